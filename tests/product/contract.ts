/** Checks every answer that a test receives against the product's OpenAPI document. */
import Ajv2020 from 'ajv/dist/2020.js'
import type { ValidateFunction } from 'ajv'
import { openApi } from '../../services/gateway/reference/openapi.ts'

const document = openApi({ version: 'of the tests', exact: true })
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
ajv.addSchema({ $id: 'contract', components: document.components })

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    address: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
    operation,
    // An address with fewer parameters is the better match.
    parameters: path.split('{').length,
  })),
)
operations.sort((a, b) => a.parameters - b.parameters)

const compiled = new Map<string, ValidateFunction>()

function validatorOf(ref: string): ValidateFunction {
  const known = compiled.get(ref)
  if (known) return known
  const made = ajv.compile({ $ref: `contract${ref}` })
  compiled.set(ref, made)
  return made
}

/** Throws when the document knows the address but describes no such answer. `path` is below `/api`; a body that is no JSON is not checked. */
export function holdsToContract(
  method: string,
  path: string,
  { status, body }: { readonly status: number; readonly body: unknown },
): void {
  const { pathname } = new URL(`/api${path}`, 'http://localhost')
  const found = operations.find((known) => known.method === method && known.address.test(pathname))
  if (!found || body === undefined) return
  const { operationId, responses } = found.operation
  const response = responses[String(status)]
  if (!response) throw new Error(`${operationId} answers ${status}, which its document does not know.`)
  const ref = response.content?.['application/json']?.schema.$ref
  if (ref === undefined) return
  const validate = validatorOf(ref)
  if (!validate(body))
    throw new Error(
      `${operationId} answers ${status} with what its document does not say: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(body).slice(0, 2_000)}`,
    )
}
