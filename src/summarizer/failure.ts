/** Why there is no summary, in words that may be logged: neither what was sent nor what came back is among them. */
export class Failure extends Error {}
