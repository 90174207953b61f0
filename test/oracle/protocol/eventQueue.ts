/** A queue of events by time; simultaneous events keep the order in which they were added. */
export class EventQueue<Event> {
  readonly #heap: { readonly time: number; readonly order: number; readonly event: Event }[] = [];
  #added = 0;

  push(time: number, event: Event): void {
    const heap = this.#heap;
    let index = heap.length;
    const item = { time, order: (this.#added += 1), event };
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(item, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = item;
  }

  pop(): { readonly time: number; readonly event: Event } | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}

function isBefore(
  a: { readonly time: number; readonly order: number },
  b: { readonly time: number; readonly order: number },
): boolean {
  return a.time < b.time || (a.time === b.time && a.order < b.order);
}
