import { describe, expect, test } from 'vitest'
import { meets, versionNotes, wantedVersions, type Program } from './wantedVersions.ts'

describe('the versions that files ask for are read', () => {
  test.each<[string, string, readonly string[]]>([
    ['.nvmrc', 'v22.3.0\n', ['node v22.3.0']],
    ['.nvmrc', 'lts/*\n', ['node lts/*']],
    ['.nvmrc', '\u001B[31m22\n', []],
    ['.node-version', '22', ['node 22']],
    ['.python-version', '3.12\n3.11\n', ['python 3.12']],
    ['.java-version', '', []],
    [
      '.tool-versions',
      '# mine\nnodejs 22.3.0\npython 3.12.1 3.11\njava temurin-21.0.3\nconstructor 1\n',
      ['node 22.3.0', 'python 3.12.1', 'java temurin-21.0.3'],
    ],
    [
      'mise.toml',
      '[env]\nnode = "1"\n[tools]\nnode = "22"\n"go" = ["1.24"]\nrust = { version = "1.88" }\n[x]\npython = "3"\n',
      ['node 22', 'go 1.24', 'rust 1.88'],
    ],
    ['package.json', '{"engines": {"node": ">=20.19"}}', ['node >=20.19']],
    ['package.json', '{"engines": {"node": 20}}', []],
    ['package.json', 'no JSON', []],
    ['pyproject.toml', '[project]\nrequires-python = ">=3.11,<4"\n', ['python >=3.11,<4']],
    ['go.mod', 'module x\n\ngo 1.24.1\n', ['go >=1.24.1']],
    ['Cargo.toml', '[package]\nrust-version = "1.85"\n', ['rust >=1.85']],
    ['rust-toolchain.toml', '[toolchain]\nchannel = "stable"\n', ['rust stable']],
    [
      'pom.xml',
      '<properties><maven.compiler.release>21</maven.compiler.release></properties>',
      ['java >=21'],
    ],
    [
      'build.gradle.kts',
      'java { toolchain { languageVersion = JavaLanguageVersion.of(17) } }',
      ['java >=17'],
    ],
    ['README.md', 'node 22', []],
  ])('from %s: %j', (file, text, versions) =>
    expect(wantedVersions(new Map([[file, text]])).map((each) => `${each.program} ${each.version}`)).toEqual(
      versions,
    ),
  )
})

test.each<[string, string, boolean | null]>([
  ['22', '22.3.1', true],
  ['v22.3', '22.4.0', false],
  ['22.x', '22.4.0', true],
  ['>=20.19', '20.20.0', true],
  ['>= 20.19', '18.1.0', false],
  ['>20', '20.9.0', false],
  ['>=3.11,<4', '3.11.2', true],
  ['>=3.12, <4', '3.11.2', false],
  ['^20.1 || ^22', '22.0.0', true],
  ['^20.1 || ^22', '21.0.0', false],
  ['~1.2.3', '1.2.9', true],
  ['~1.2.3', '1.3.0', false],
  ['~=3.10', '3.12.0', true],
  ['<=17', '21.0.1', false],
  ['temurin-21.0.3', '21.0.3', true],
  ['lts/*', '22.0.0', null],
  ['stable', '1.88.0', null],
  ['^20 || lts/*', '22.0.0', null],
  ['18 - 20', '17.9.0', false],
  ['18 - 20', '18.0.0', true],
  ['18 - 20', '19.0.0', true],
  ['18 - 20', '20.9.0', true],
  ['18 - 20', '21.0.0', false],
  ['^22 || 18.2.0 - 20.1.0', '20.1.0', true],
  ['^22 || 18.2.0 - 20.1.0', '20.1.1', false],
])('%s is met by %s: %s', (wanted, has, answer) => expect(meets(wanted, has)).toBe(answer))

// Attacks detected: version files that make a pattern search forever.
test.each(['.tool-versions', 'mise.toml', 'pyproject.toml', 'pom.xml', 'go.mod'])(
  'a hostile %s is read in no time, and gives few versions',
  (file) => {
    const blanks = ' '.repeat(120_000)
    const text = `[tools]\nnode =${blanks}x\nnode${blanks}\n${'node 1\n'.repeat(10_000)}requires-python =${blanks}\n<java.version>${blanks}`
    expect(wantedVersions(new Map([[file, text]])).length).toBeLessThanOrEqual(10)
  },
)

test('only what the sandbox does not have is told of', () => {
  const wanted = wantedVersions(
    new Map([
      ['.tool-versions', 'nodejs 22\npython 3\njava 21\ngolang 1.24\nrust stable'],
      ['.nvmrc', 'lts/*'],
    ]),
  )
  const versions = new Map<Program, string | null>([
    ['node', '20.19.0'],
    ['python', '3.11.2'],
    ['java', null],
    ['rust', '1.63.0'],
  ])
  expect(versionNotes(wanted, versions)).toEqual([
    '.tool-versions asks for node 22. The sandbox has node 20.19.0.',
    '.tool-versions asks for java 21. The sandbox has no java on its PATH.',
  ])
})
