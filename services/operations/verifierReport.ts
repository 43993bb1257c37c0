/** The verifier's report about a bundle, as lines of text. */
import type { BundleFault } from '../../domain/proof/bundleParts.ts'
import type { GivenSeals } from '../../domain/proof/bundleSeals.ts'
import type { BundleComparison } from '../../domain/proof/compareBundles.ts'
import { fingerprintOf } from '../../domain/proof/logKeys.ts'
import type { BundleReport } from '../../domain/proof/verifyBundle.ts'
import { cryptography } from '../platform/seals/cryptography.ts'

/** The keys that a bundle was checked with, and where they come from. */
export interface Pinned {
  readonly from: 'given' | 'remembered' | 'beside' | 'first_seen'
  /** Verifier keys or fingerprints; empty if no key of this log was known. */
  readonly keys: readonly string[]
  readonly file: string
}

const maxShown = 100

/** The lines about one bundle. The first line is the verdict or, for a bundle that is not whole, the first fault. */
export function linesOf(report: BundleReport, pinned: Pinned): readonly string[] {
  switch (report.verdict) {
    case 'newer_format':
      return ['newer format: get a newer verifier from the server that made this bundle']
    case 'older_format':
      return ['older format: download the bundle again, from a server of today']
    case 'unknown_key':
      return unknownKey(report, pinned)
    case 'not_whole':
      return [
        ...report.faults.slice(0, maxShown).map((fault) => `${wordOf(fault)}: ${fault.why}`),
        ...(report.faults.length > maxShown ? [`${report.faults.length - maxShown} more`] : []),
      ]
    case 'intact':
      return ['intact, key seen for the first time', ...details(report, pinned), ...firstSeen(pinned)]
    case 'whole':
      return [report.isWitnessed ? 'whole' : 'whole, not witnessed', ...details(report, pinned)]
  }
}

/** The lines about two bundles that have no faults of their own. The first line is the verdict or the first contradiction. */
export function comparisonLines(comparison: BundleComparison, isFirstSeen: boolean): readonly string[] {
  const { verdict, contradictions, why, size, extension } = comparison
  switch (verdict) {
    case 'contradict':
      return contradictions.slice(0, maxShown).map((fault) => `contradiction at ${fault.where}: ${fault.why}`)
    case 'not_compared':
      return [
        why === 'other_log'
          ? 'not compared: the bundles are of different logs, or of different epochs of one log'
          : `not compared: the newer bundle has no proof for the log of ${size} events. Download it with ?seal=${size}`,
      ]
    case 'agree':
      return [
        isFirstSeen ? 'agree, key seen for the first time' : 'agree',
        ...(extension === undefined ? [] : [extensionLine(extension)]),
      ]
  }
}

function extensionLine({ longer, events }: NonNullable<BundleComparison['extension']>): string {
  if (longer === 'neither') return 'Both have the same events of one task.'
  const other = longer === 'first' ? 'second' : 'first'
  return `The ${longer} goes on from the ${other}: it has ${events} more events of the same task.`
}

function unknownKey({ signedBy }: BundleReport, { from, keys, file }: Pinned): readonly string[] {
  const [whose, label] = {
    given: ['the one that you gave', 'given'],
    remembered: ['the one that is remembered for this log', `remembered in ${file}`],
    beside: ['the first bundle', 'the first bundle'],
    first_seen: ['any', 'known'],
  }[from]
  return [
    `unknown key: it is signed by another key than ${whose}, and no link leads from that one to it`,
    ...(signedBy === null ? [] : [`signed by: ${described(signedBy)}`]),
    ...keys.map((key) => `${label}: ${described(key)}`),
    'If the key of the log was replaced, compare the new one with its server (npm start -- key), and give it with --key.',
  ]
}

function firstSeen({ file }: Pinned): readonly string[] {
  return [
    `This key is now remembered in ${file}. Nothing yet shows that it is the key of the server you mean: compare its fingerprint with the one`,
    "on the task's page, in the pull request, or that `npm start -- key` prints there.",
  ]
}

/** A verifier key with its fingerprint in front; a fingerprint is not changed. */
function described(key: string): string {
  const fingerprint = fingerprintOf(cryptography.sha256, key)
  return fingerprint === undefined ? key : `${fingerprint}  ${key}`
}

function wordOf({ kind, where }: BundleFault): string {
  if (kind === 'removed' && (where === 'manifest' || where === 'header')) return `cut at the ${where}`
  return `${kind} at ${where}`
}

function details(report: BundleReport, { from, keys, file }: Pinned): readonly string[] {
  const { blobs, seals, isWitnessed } = report
  const named = blobs.kept + blobs.changed + blobs.erased + blobs.missing
  const pin = {
    given: 'given with --key',
    remembered: `remembered in ${file}`,
    beside: 'not seen before, and known to the first bundle',
    first_seen: 'not seen before',
  }[from]
  return [
    `task: ${report.taskId}, events: ${report.events}, of ${report.treeSize} in the log`,
    ...Object.entries(report.withheld).map(([category, count]) => `withheld: ${count} ${category}`),
    ...(report.disclosedLater > 0 ? [`withheld first and shown here: ${report.disclosedLater}`] : []),
    ...(report.erased > 0 ? [`erased: ${report.erased}`] : []),
    ...(report.missingKey > 0 ? [`missing key: ${report.missingKey} could not be opened by the server`] : []),
    ...(named > 0
      ? [`blobs: ${blobs.kept} of ${named} kept, ${blobs.erased} erased, ${blobs.missing} missing`]
      : []),
    `signed by: ${described(report.signedBy ?? '')}, ${report.isReplacement ? 'which replaced the key that is known:' : pin}`,
    ...(report.isReplacement ? keys.map((key) => `known: ${described(key)}, ${pin}`) : []),
    ...sealLines(seals, isWitnessed),
    ...report.cosignatures.map(({ witness, time }) => `cosigned by: ${witness}, at ${momentOf(time)}`),
  ]
}

function sealLines(seals: GivenSeals, isWitnessed: boolean): readonly string[] {
  const { given, compared, older, newer, ofOtherEpochs, ofOtherLogs, unreadable, newestCompared } = seals
  if (given + unreadable === 0) return []
  const reasons = [
    [older, 'older than those that the bundle lists'],
    [newer, 'newer than the bundle'],
    [ofOtherEpochs, 'of other epochs'],
    [ofOtherLogs, 'of other logs'],
  ] as const
  const left = reasons.filter(([count]) => count > 0).map(([count, why]) => `${count} ${why}`)
  return [
    [`${compared} of ${given} seals compared`, ...left].join('; '),
    ...(compared === 0 ? ['None of your seals could be compared.'] : []),
    ...(compared > 0 && !isWitnessed
      ? [
          `The newest that was compared is over ${newestCompared} events; no seal of yours bears out what came later.`,
        ]
      : []),
    ...(unreadable > 0 ? [`${unreadable} lines in the files of seals are no seals`] : []),
  ]
}

function momentOf(seconds: number): string {
  const moment = new Date(seconds * 1_000)
  return Number.isNaN(moment.getTime()) ? `${seconds} s since 1970` : moment.toISOString()
}
