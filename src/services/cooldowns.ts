export type Silence = 'cooldown' | 'rate_limit';

const MINUTE_MS = 60_000;
const PER_MINUTE_MAX = 5;
/** So many are kept in mind; the longest unheard of are forgotten first. */
const KEPT_MAX = 10_000;

/**
 * Who was told what, and when: nobody wants to hear the same before every keystroke. Kept in this process alone; after a restart
 * everybody is told once more.
 */
export class Cooldowns {
  readonly #told = new Map<string, number>();
  readonly #minutes = new Map<string, { readonly minute: number; readonly count: number }>();

  constructor(private readonly now: () => number) {}

  /** Why to be silent now, or null: then it counts as told. */
  take(key: string, caller: string, cooldownSeconds: number): Silence | null {
    const nowMs = this.now();
    const toldMs = this.#told.get(key);
    if (toldMs !== undefined && nowMs - toldMs < cooldownSeconds * 1_000) return 'cooldown';
    const minute = Math.floor(nowMs / MINUTE_MS);
    const known = this.#minutes.get(caller);
    const count = known?.minute === minute ? known.count : 0;
    if (cooldownSeconds > 0 && count >= PER_MINUTE_MAX) return 'rate_limit';
    remember(this.#told, key, nowMs);
    remember(this.#minutes, caller, { minute, count: count + 1 });
    return null;
  }
}

function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > KEPT_MAX && oldest !== undefined) map.delete(oldest);
}
