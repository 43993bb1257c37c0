/** Compares GraphQL with the schema that GitHub publishes: our queries, and the types of the local code host. */
import { schema as published } from '@octokit/graphql-schema'
import {
  buildSchema,
  isInputObjectType,
  isInterfaceType,
  isEnumType,
  isObjectType,
  parse,
  validate,
  type GraphQLSchema,
} from 'graphql'
import { describe, expect, test } from 'vitest'
import { issueQuery, pullRequestsQuery } from '#platform/codehost/graphql.ts'
import { schema as local } from '../../services/codehost/graphql/schema.ts'

const github = buildSchema(published.idl, { assumeValidSDL: true })

/** Lines such as `PullRequest.state: PullRequestState!`. */
function declared(schema: GraphQLSchema): readonly string[] {
  return Object.values(schema.getTypeMap()).flatMap((type) => {
    if (type.name.startsWith('__')) return []
    if (isEnumType(type)) return type.getValues().map(({ name }) => `${type.name}.${name}`)
    const isObject = isObjectType(type) || isInterfaceType(type)
    if (!isObject && !isInputObjectType(type)) return []
    const interfaces = isObjectType(type)
      ? type.getInterfaces().map(({ name }) => `${type.name} is ${name}`)
      : []
    const fields = Object.values(type.getFields()).map(
      (field) => `${type.name}.${field.name}: ${String(field.type)}`,
    )
    const withArguments = isInputObjectType(type) ? [] : Object.values(type.getFields())
    const args = withArguments.flatMap((field) =>
      field.args.map((each) => `${type.name}.${field.name}(${each.name}: ${String(each.type)})`),
    )
    return [...interfaces, ...fields, ...args]
  })
}

describe('the local code host', () => {
  test('declares nothing otherwise than GitHub', () => {
    const all = new Set(declared(github))
    expect(declared(local).filter((line) => !all.has(line))).toEqual([])
    expect(declared(local)).toContain('PullRequest.state: PullRequestState!')
  })
})

describe('what we ask', () => {
  test.each([0, 1, 50])('is valid on GitHub and here, with %i pull requests by number', (byNumber) => {
    const query = parse(pullRequestsQuery(byNumber))
    expect(validate(github, query)).toEqual([])
    expect(validate(local, query)).toEqual([])
  })

  test('is valid of the text of an issue', () => {
    const query = parse(issueQuery)
    expect(validate(github, query)).toEqual([])
    expect(validate(local, query)).toEqual([])
  })

  test('would not be, if it asked for what there is not', () => {
    const query = parse(pullRequestsQuery(1).replace('isDraft', 'isDrafty'))
    expect(validate(github, query).map(({ message }) => message)).toEqual([
      expect.stringContaining('Cannot query field "isDrafty"'),
    ])
  })
})
