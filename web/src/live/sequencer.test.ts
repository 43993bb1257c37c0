import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cover, receive, unsequenced, type Received, type Versioned } from './sequencer.ts'

const items = (count: number): Versioned[] => Array.from({ length: count }, (_, version) => ({ version }))

/** Receives the batches, and returns the items in the order in which they were delivered. */
function shown(batches: readonly (readonly Versioned[])[], snapshot: { at: number; before: number }) {
  let sequencer = unsequenced<Versioned>()
  const out: number[] = []
  const take = ({ sequencer: next, ready }: Received<Versioned>) => {
    sequencer = next
    out.push(...ready.map(({ version }) => version))
  }
  batches.forEach((batch, index) => {
    if (index === snapshot.before) take(cover(sequencer, snapshot.at))
    take(receive(sequencer, batch))
  })
  if (snapshot.before >= batches.length) take(cover(sequencer, snapshot.at))
  return { out, sequencer }
}

describe('the sequencer', () => {
  test('whatever the order and however often, everything after the snapshot comes out once, in order', () => {
    const deliveries = fc.integer({ min: 1, max: 60 }).chain((count) =>
      fc.record({
        count: fc.constant(count),
        // Every item at least once, some twice, shuffled, cut into batches.
        stream: fc.array(fc.nat({ max: count - 1 }), { maxLength: count }).chain((repeats) =>
          fc.shuffledSubarray([...items(count), ...repeats.map((version) => ({ version }))], {
            minLength: count + repeats.length,
          }),
        ),
        cuts: fc.array(fc.nat({ max: count * 2 }), { maxLength: 6 }),
        snapshot: fc.record({ at: fc.integer({ min: -1, max: count - 1 }), before: fc.nat({ max: 8 }) }),
      }),
    )
    fc.assert(
      fc.property(deliveries, ({ count, stream, cuts, snapshot }) => {
        const edges = [0, ...cuts.toSorted((a, b) => a - b), stream.length]
        const batches = edges.slice(1).map((edge, index) => stream.slice(edges[index], edge))
        const { out, sequencer } = shown(batches, snapshot)
        expect(out).toEqual(
          items(count)
            .map(({ version }) => version)
            .filter((version) => version > snapshot.at),
        )
        expect(sequencer.held.size).toBe(0)
        expect(sequencer.at).toBe(count - 1)
      }),
    )
  })

  test('holds everything until a snapshot says where to begin', () => {
    const { sequencer, ready, gap } = receive(unsequenced(), items(3))
    expect(ready).toEqual([])
    expect(gap).toBe(false)
    expect(cover(sequencer, 0).ready).toEqual([{ version: 1 }, { version: 2 }])
  })

  test('tells of a gap, and goes on when it is filled', () => {
    const begun = cover(unsequenced<Versioned>(), 4).sequencer
    const after = receive(begun, [{ version: 6 }, { version: 7 }])
    expect(after).toMatchObject({ ready: [], gap: true })
    const filled = receive(after.sequencer, [{ version: 5 }])
    expect(filled.ready.map(({ version }) => version)).toEqual([5, 6, 7])
    expect(filled.gap).toBe(false)
  })

  test('a later snapshot takes the place of what is missing, an older one changes nothing', () => {
    const behind = receive(cover(unsequenced<Versioned>(), 4).sequencer, [{ version: 9 }]).sequencer
    expect(cover(behind, 8)).toMatchObject({ ready: [{ version: 9 }], gap: false })
    expect(cover(behind, 2).sequencer.at).toBe(4)
  })
})
