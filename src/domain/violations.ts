/** Why a request is refused. A gate collects all of its violations before anybody answers. */
export interface Violation {
  /** Dotted path of the field in the request. */
  readonly field: string;
  readonly code: ViolationCode;
  readonly message: string;
}

export type ViolationCode = 'semantic_error' | 'not_found' | 'integrity_error' | 'conflict';

/** The gates after the schema, in the order they run. */
export type Gate = 'semantic' | 'integrity';

export class GateFailure extends Error {
  constructor(
    readonly gate: Gate,
    readonly violations: readonly Violation[],
  ) {
    super(`${gate} gate: ${violations.length} violations, the first in ${violations[0]?.field}`);
    this.name = 'GateFailure';
  }
}

/** Lets a request through a gate that found nothing wrong with it. */
export function passGate(gate: Gate, violations: readonly Violation[]): void {
  if (violations.length > 0) throw new GateFailure(gate, violations);
}
