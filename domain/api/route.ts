/** Routes of the HTTP API as plain data, and a function that fills in a route's parameters. */

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** The address of a call: `path` is below `/api`, with `:name` for each parameter. */
export interface Route {
  readonly method: Method
  readonly path: string
}

export type Routes = Readonly<Record<string, Route>>

/** The names of a path's parameters: `'taskId'` for `/tasks/:taskId`. */
type ParamNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

export type PathParams<Path extends string> = Readonly<Record<ParamNames<Path>, string>>

/** The path with its parameters filled in, URL-encoded. Throws when a parameter has no value. */
export function pathOf<Path extends string>(path: Path, params: PathParams<Path>): string
export function pathOf(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => {
    const value = params[name]
    if (value === undefined) throw new TypeError(`${path} needs ${name}.`)
    return encodeURIComponent(value)
  })
}
