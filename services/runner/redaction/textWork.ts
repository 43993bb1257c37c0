/** The work of a thread that scans text: it finds secrets, or checks the body of a request to a model. */
import { checkBody, type Checked } from '../model/modelApi.ts'
import { modelApis, type ModelApiName } from '../model/apis.ts'
import { automatonOf, type Automaton, type Word } from '#platform/redaction/automaton.ts'
import { diffWithout, goOn, soughtFor, textWithout, type Scan } from '#platform/redaction/scan.ts'

export type Work =
  | { readonly kind: 'build'; readonly secrets: readonly string[] }
  | { readonly kind: 'words'; readonly words: readonly Word[] }
  | {
      readonly kind: 'piece'
      readonly sought: Automaton
      readonly scan: Scan
      readonly text: string
      readonly final: boolean
    }
  | { readonly kind: 'text' | 'diff'; readonly sought: Automaton; readonly text: string }
  | {
      readonly kind: 'fetches'
      readonly api: ModelApiName
      readonly body: Uint8Array
      readonly modelFetches: boolean
    }

interface Answers {
  readonly build: Automaton
  readonly words: Automaton
  readonly piece: { readonly scan: Scan; readonly shown: string }
  readonly text: string
  readonly diff: string
  readonly fetches: Checked
}
export type AnswerTo<W extends Work> = Answers[W['kind']]

export function answerTo(work: Work): Answers[keyof Answers] {
  switch (work.kind) {
    case 'build':
      return soughtFor(work.secrets)
    case 'words':
      return automatonOf(work.words)
    case 'piece': {
      const { sought, scan, text, final } = work
      const shown = goOn(sought, scan, text, final)
      return { scan, shown }
    }
    case 'text':
      return textWithout(work.sought, work.text)
    case 'diff':
      return diffWithout(work.sought, work.text)
    case 'fetches':
      return checkBody(modelApis[work.api], work.body, work)
  }
}
