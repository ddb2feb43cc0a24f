export type SweptPage = {
  /** What was found and dealt with. */
  readonly changed: number;
  /** Where the next page begins; absent on the last one. */
  readonly next?: string;
};

/** @param last the id of the page's last row, if the page was full */
export function sweptPage(changed: number, last: string | undefined): SweptPage {
  return last === undefined ? { changed } : { changed, next: last };
}
