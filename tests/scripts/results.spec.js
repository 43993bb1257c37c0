/** How the results of a test run are added up and printed. */
import { expect, test } from 'vitest'
import { closingLines, nothing, oneCheck, suiteResults, sum } from '../../scripts/results.js'

test('stages and suites add up', () => {
  const suite = suiteResults(
    '{"passed":3,"failed":[{"name":"c","reason":"d"}],"skipped":[{"name":"a","reason":"b"}],"ports":[],"attacks":{"refused":2,"cases":3}}',
    false,
  )
  expect(sum([oneCheck('build', true), oneCheck('lint', false), suite])).toEqual({
    passed: 4,
    failed: [
      { name: 'lint', reason: 'see above' },
      { name: 'c', reason: 'd' },
    ],
    skipped: [{ name: 'a', reason: 'b' }],
    ports: [],
    attacks: { refused: 2, cases: 3 },
  })
})

test('a run that failed is a failure, also when no test failed', () => {
  expect(
    suiteResults('{"passed":3,"failed":[],"skipped":[],"ports":[],"attacks":{"refused":0,"cases":0}}', false),
  ).toMatchObject({
    passed: 3,
    failed: [{ name: 'the run itself' }],
  })
})

test('a run that left no tally is a failure', () => {
  expect(suiteResults(undefined, false)).toMatchObject({ passed: 0, failed: [{ name: 'the run itself' }] })
})

test('the totals are the last line', () => {
  expect(closingLines({ ...nothing, passed: 12 }, '')).toEqual(['12 passed, 0 failed, 0 skipped'])
})

test('every failure is named at the end, where a log that was cut still shows it', () => {
  const failed = [{ name: 'a.spec.ts > it works', reason: 'expected 1 to be 2' }]
  expect(closingLines({ ...nothing, failed, attacks: { refused: 1, cases: 1 } }, '')).toEqual([
    'attacks: 1 of 1 refused',
    'failed: a.spec.ts > it works (expected 1 to be 2)',
    '0 passed, 1 failed, 0 skipped',
  ])
})

test('attacks are counted before the totals', () => {
  expect(closingLines({ ...nothing, passed: 3, attacks: { refused: 2, cases: 3 } }, '')).toEqual([
    'attacks: 2 of 3 refused',
    '3 passed, 0 failed, 0 skipped',
  ])
})

test('a skipped test is listed with its reason, once for both Nodes, and counted for each', () => {
  const skipped = [
    { name: 'engine: NATS', reason: 'no container engine' },
    { name: 'engine: NATS', reason: 'no container engine' },
  ]
  expect(closingLines({ ...nothing, skipped }, '')).toEqual([
    'skipped: engine: NATS (no container engine)',
    '0 passed, 0 failed, 2 skipped',
  ])
})

test('notes are shown sorted, each once', () => {
  const notes = [
    { what: 'model', against: 'a scripted Messages API' },
    { what: 'code host', against: 'the local code host' },
    { what: 'model', against: 'a scripted Messages API' },
  ]
  expect(closingLines(nothing, notes.map((note) => `${JSON.stringify(note)}\n`).join(''))).toEqual([
    'code host: the local code host',
    'model: a scripted Messages API',
    '0 passed, 0 failed, 0 skipped',
  ])
})

test('each port and adapter has a line: what stood behind it, and its cases on each Node', () => {
  const note = { what: 'bus: NATS', against: 'the real nats-server' }
  const other = { what: 'the connection to NATS', against: 'the real nats-server' }
  const ports = [
    { suite: 'bus: NATS', node: '20.19.0', passed: 8, cases: 8 },
    { suite: 'bus: in process', node: '20.19.0', passed: 8, cases: 8 },
    { suite: 'bus: NATS', node: '24.1.0', passed: 7, cases: 8 },
  ]
  const notes = [note, other, note].map((each) => `${JSON.stringify(each)}\n`).join('')
  expect(closingLines({ ...nothing, ports }, notes)).toEqual([
    'port bus: NATS; against the real nats-server; 8 of 8 cases on Node 20.19.0; 7 of 8 cases on Node 24.1.0',
    'port bus: in process; 8 of 8 cases on Node 20.19.0',
    'the connection to NATS: the real nats-server',
    '0 passed, 0 failed, 0 skipped',
  ])
})
