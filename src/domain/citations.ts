/** A line that names what it was taken from, so that nobody has to believe it unseen. */
export interface CitedLine {
  readonly text: string;
  readonly sourceIds: readonly string[];
}
