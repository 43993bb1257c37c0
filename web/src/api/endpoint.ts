/** Requests built from the API's routes: nothing else in the client contains a method or path of the API. */
import type { AnyCall, BodyInputOf, QueryInputOf } from '#domain/api/call.schema.ts'
import { pathOf, type PathParams, type Route } from '#domain/api/route.ts'
import type { ApiCall } from './request.ts'

/** The method and path of the call `C`, as literal types: passing the route of another call does not compile. */
type RouteOf<C extends AnyCall> = Pick<C, 'method' | 'path'>

/** The parameters that the path of a call names. */
type Params<C extends AnyCall> = keyof PathParams<C['path']> extends never
  ? { readonly params?: never }
  : { readonly params: PathParams<C['path']> }

/** The query parameters of the call. Only reads have any. */
type Query<C extends AnyCall> = C['method'] extends 'GET'
  ? { readonly query?: Readonly<Partial<Record<keyof QueryInputOf<C>, string | number | undefined>>> }
  : { readonly query?: never }

type Body<C extends AnyCall> = C['method'] extends 'GET'
  ? { readonly body?: never }
  : undefined extends BodyInputOf<C>
    ? { readonly body?: BodyInputOf<C> }
    : Record<string, never> extends BodyInputOf<C>
      ? { readonly body?: BodyInputOf<C> }
      : { readonly body: BodyInputOf<C> }

type Options = Pick<ApiCall, 'key' | 'keepalive' | 'fallback'>

type RequestOf<C extends AnyCall> = Options & Params<C> & Query<C> & Body<C>

/** The request of a call, with its method and its path filled in. */
export function requestOf<C extends AnyCall>(route: RouteOf<C>, request: RequestOf<C>): ApiCall
export function requestOf(
  { method, path }: Route,
  {
    params = {},
    ...request
  }: Omit<ApiCall, 'method' | 'path'> & {
    readonly params?: Readonly<Record<string, string>>
  },
): ApiCall {
  return { ...request, method, path: pathOf(path, params) }
}
