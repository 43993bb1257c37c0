/** The `query` functions of endpoints whose call needs only the parameters of its path. */
import type { AnyCall } from '#domain/api/call.schema.ts'
import { pathOf, type PathParams, type Route } from '#domain/api/route.ts'
import type { ApiCall } from '../../api/request.ts'

type TaskRoute = Pick<Route, 'method'> & { readonly path: `/tasks/:taskId/${string}` }

/** For a path that names only the task: the argument of the endpoint is the task's id. */
export const ofTask =
  <C extends AnyCall & TaskRoute>({ method, path }: Pick<C, 'method' | 'path'>, fallback: string) =>
  (taskId: string): ApiCall => ({ method, path: pathOf<TaskRoute['path']>(path, { taskId }), fallback })

/** For a path with several parameters: the endpoint's argument is an object with all of them. */
export const ofParams =
  <C extends AnyCall>({ method, path }: Pick<C, 'method' | 'path'>, fallback: string) =>
  (params: PathParams<C['path']>): ApiCall => ({ method, path: pathOf<C['path']>(path, params), fallback })
