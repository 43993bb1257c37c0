import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { exportFigures, getFigures } from '#domain/api/figures.schema.ts'
import { figuresRoutes, type Scope } from '#domain/api/figures.ts'
import type { Grouping, Period } from '#domain/figures.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import { texts } from './texts.ts'

export type FiguresAnswer = AnswerOf<typeof getFigures>
export interface FiguresQuery extends Period {
  readonly by: Grouping
  readonly scope: Scope
}

const figuresApi = api.injectEndpoints({
  endpoints: (build) => ({
    figures: build.query<FiguresAnswer, FiguresQuery>({
      query: ({ from, to, by, scope }) =>
        requestOf<typeof getFigures>(figuresRoutes.getFigures, {
          query: { from, to, by, scope },
          fallback: texts.fetchFailed,
        }),
    }),
  }),
})
export const { useFiguresQuery } = figuresApi

export const csvOf = ({ from, to, by, scope }: FiguresQuery) =>
  requestOf<typeof exportFigures>(figuresRoutes.exportFigures, {
    query: { from, to, by, scope },
    fallback: texts.downloadFailed,
  })
