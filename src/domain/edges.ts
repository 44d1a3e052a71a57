import { type LinkRow, linkOf, type Member } from './links.js';
import type { Violation } from './violations.js';
import type { EdgeType, Role } from './vocabulary.js';

/** The rules of edges that callers draw themselves. */

export interface EdgeDraft {
  readonly type: EdgeType;
  readonly label: string;
  readonly weight: number;
  readonly members: readonly Member[];
}

const LABEL_CHARACTERS_MAX = 200;

const semantic = (field: string, message: string): Violation => ({ field, code: 'semantic_error', message });

export function checkLabel(label: string): Violation[] {
  if (label.length > LABEL_CHARACTERS_MAX) {
    return [semantic('label', `has ${label.length} characters, at most ${LABEL_CHARACTERS_MAX} are kept`)];
  }
  const known = linkOf(label);
  return known?.keeper ? [semantic('label', `${label} links are made by the routes under /${known.keeper}`)] : [];
}

export function checkEdge({ type, label, members }: EdgeDraft): Violation[] {
  const violations = checkLabel(label);
  const known = linkOf(label);
  if (known && violations.length === 0) violations.push(...checkKnown(known, type, label, members));
  const seen = new Set<string>();
  members.forEach(({ nodeId, role }, index) => {
    const part = `${role} ${nodeId}`;
    if (seen.has(part)) violations.push(semantic(`members.${index}`, `is named as ${role} already`));
    seen.add(part);
  });
  return violations;
}

/** A known label means one thing, whoever uses it: otherwise those who read it would read something else. */
function checkKnown(known: LinkRow, type: EdgeType, label: string, members: readonly Member[]): Violation[] {
  const violations: Violation[] = [];
  if (type !== known.type) violations.push(semantic('type', `of a ${label} link is ${known.type}`));
  const given = members.map(({ role }) => role).sort();
  const isSymmetric = known.roles.length === 1;
  const wanted = isSymmetric ? members.map(() => known.roles[0] as Role) : [...known.roles].sort();
  if (members.length < 2 || given.join() !== wanted.join()) {
    const parts = isSymmetric ? `two or more with the role ${known.roles[0]}` : known.roles.join(' and ');
    violations.push(semantic('members', `of a ${label} link are ${parts}`));
  }
  if (new Set(members.map(({ nodeId }) => nodeId)).size < members.length) {
    violations.push(semantic('members', `of a ${label} link are different nodes`));
  }
  return violations;
}

export type Direction = 'outgoing' | 'incoming' | 'both';

const ROLES_OUT: ReadonlySet<Role> = new Set(['subject', 'cause']);
const ROLES_IN: ReadonlySet<Role> = new Set(['object', 'effect']);

/** Whether an edge leads from one of its members to another: from subject to object, from cause to effect, else both ways. */
export function leads(from: Role, to: Role, direction: Direction): boolean {
  if (direction === 'both') return true;
  const [first, last] = direction === 'outgoing' ? [from, to] : [to, from];
  return !(ROLES_IN.has(first) && ROLES_OUT.has(last));
}
