/** Which settings are accepted: valid names of environment variables, and hosts by their names. */
import { describe, expect, test } from 'vitest'
import {
  AllowedHost,
  EnvironmentName,
  setProjectSecret,
  updateProjectSettings,
} from './projectSettings.schema.ts'

describe('a name', () => {
  test.each(['A', '_', 'npm_config_registry', 'DATABASE_URL', 'X'.repeat(100), 'LANGUAGES', 'TZ', 'PATHS'])(
    'may be %s',
    (name) => expect(EnvironmentName.safeParse(name).success).toBe(true),
  )
  test.each([
    '',
    '1A',
    'A-B',
    'A B',
    'A=B',
    'Ä',
    'A\n',
    'X'.repeat(101),
    'PATH',
    'path',
    'HOME',
    'LD_PRELOAD',
    'ANTHROPIC_API_KEY',
    'CURSOR_API_KEY',
    'HTTPS_PROXY',
    'no_proxy',
    'NODE_OPTIONS',
    'GIT_SSH_COMMAND',
    'BASH_ENV',
  ])('may not be %j', (name) => expect(EnvironmentName.safeParse(name).success).toBe(false))
})

// Holds findings 1.3.
describe('finding 1: a name that steers the C library of whoever starts a command', () => {
  test.each([
    'LANG',
    'LANGUAGE',
    'LC_ALL',
    'LC_MESSAGES',
    'LOCPATH',
    'NLSPATH',
    'GCONV_PATH',
    'GLIBC_TUNABLES',
    'MALLOC_TRACE',
    'LD_DEBUG_OUTPUT',
    'HOSTALIASES',
  ])('may not be %s, and the field is named', (name) => {
    const settings = { setupCommand: '', variables: [{ name, value: 'x' }], egress: [] }
    const parsed = updateProjectSettings.body?.safeParse(settings)
    expect(parsed?.error?.issues[0]).toMatchObject({
      path: ['variables', 0, 'name'],
      message: 'This name is reserved.',
    })
    expect(EnvironmentName.safeParse(name).success).toBe(false)
  })
})

describe('the variable PATH', () => {
  const parsed = (value: string) =>
    updateProjectSettings.body?.safeParse({ variables: [{ name: 'PATH', value }] })

  test.each(['./node_modules/.bin', '~/bin:./tools', '$HOME/.local/bin', '$PWD/.venv/bin:~/go/bin', './'])(
    'may be %s',
    (value) => expect(parsed(value)?.success).toBe(true),
  )
  test.each([
    ['/workspace/bin', '/workspace/bin'],
    ['./bin:/opt/bin', '/opt/bin'],
    ['./bin:$PATH', '$PATH'],
    ['./bin:', ''],
    ['', ''],
    ['.', '.'],
    ['bin', 'bin'],
    ['~root/bin', '~root/bin'],
    ['./../usr', './../usr'],
    ['~/a/../../b', '~/a/../../b'],
  ])('may not be %j', (value, entry) => {
    const [issue] = parsed(value)?.error?.issues ?? []
    expect(issue?.path).toEqual(['variables', 0, 'value'])
    expect(issue?.message).toContain(`This entry is not one: "${entry}".`)
  })
  test('is no secret', () =>
    expect(setProjectSecret.params?.safeParse({ projectId: 'x', name: 'PATH' }).success).toBe(false))
})

describe('a host', () => {
  test.each([
    ['example.org', 'example.org'],
    [' Registry.Example.ORG ', 'registry.example.org'],
    ['*.example.org', '*.example.org'],
    ['example.org:8443', 'example.org:8443'],
    ['192.0.2.7', '192.0.2.7'],
    ['[2001:db8::1]:443', '[2001:db8::1]:443'],
    ['localhost', 'localhost'],
    ['Acme/Tool.kit', 'acme/tool.kit'],
  ])('may be %j', (written, kept) => expect(AllowedHost.parse(written)).toBe(kept))
  test.each([
    '',
    '*',
    '*.',
    'https://example.org',
    'example.org/path',
    'a..b',
    'a@b',
    'a b',
    'a:0',
    'a:65536',
    '.a',
    'acme/..',
    'acme/tools/more',
    '*.acme/tools',
  ])('may not be %j', (written) => expect(AllowedHost.safeParse(written).success).toBe(false))
})

describe('a value', () => {
  const secret = (value: string) => setProjectSecret.body.safeParse({ value }).success
  const variables = (values: readonly string[]) =>
    updateProjectSettings.body.safeParse({
      variables: values.map((value, index) => ({ name: `V${index}`, value })),
    }).success

  test('of a secret has 8 characters at least and 8 KiB at most', () => {
    expect(secret('1234567')).toBe(false)
    expect(secret('12345678')).toBe(true)
    expect(secret('ü'.repeat(4 * 1024))).toBe(true)
    expect(secret(`${'ü'.repeat(4 * 1024)}x`)).toBe(false)
    expect(secret('12345678\0')).toBe(false)
  })

  test('of a variable may be empty, and all together have 256 KiB at most', () => {
    const large = 'x'.repeat(32 * 1024)
    expect(variables(['', large])).toBe(true)
    expect(variables(Array.from({ length: 8 }, () => large))).toBe(false)
    expect(variables([`${large}x`])).toBe(false)
  })

  test('is that of one name', () => {
    const twice = ['A', 'A'].map((name) => ({ name, value: '1' }))
    expect(updateProjectSettings.body.safeParse({ variables: twice }).success).toBe(false)
  })
})
