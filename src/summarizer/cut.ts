/** A text that ends after a sentence must keep this share of the room; else more is lost than the clean end is worth. */
const SENTENCE_SHARE_MIN = 0.5;

const ELLIPSIS = '…';

/** The text, or as much of its beginning as fits: whole sentences, else whole words, else whole characters. */
export function cutToFit(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const sentences = beginning(text, 'sentence', charactersMax);
  if (sentences.length >= charactersMax * SENTENCE_SHARE_MIN) return sentences;
  const room = charactersMax - ELLIPSIS.length;
  const words = beginning(text, 'word', room) || beginning(text, 'grapheme', room);
  return words && words + ELLIPSIS;
}

/** As many whole segments as there is room for, without the space or the punctuation that would be left hanging. */
function beginning(text: string, granularity: 'sentence' | 'word' | 'grapheme', room: number): string {
  // A language is named, so that the cut does not depend on the machine's; the rules hold for other languages as well.
  const segmenter = new Intl.Segmenter('en', { granularity });
  let end = 0;
  for (const { segment, index, isWordLike } of segmenter.segment(text)) {
    const segmentEnd = index + segment.trimEnd().length;
    if (segmentEnd > room) break;
    if (granularity !== 'word' || isWordLike) end = segmentEnd;
  }
  return text.slice(0, end).trimEnd();
}
