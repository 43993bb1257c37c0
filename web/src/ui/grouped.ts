/** `10,000`: put together by hand, since the browser's own formatters cost a millisecond each and lists have many. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}
