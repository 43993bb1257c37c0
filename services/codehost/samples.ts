/** The sample repositories that an empty code host gets, so that people can try the product. Their commits have the same hashes on every machine. */
import { sampleRepository } from '#domain/api/projects.ts'
import { acme, ada } from './state/accounts.ts'
import type { Git } from './git/runGit.ts'
import type { Repositories } from './repositories/repositories.ts'

interface SampleCommit {
  readonly message: string
  readonly files: Readonly<Record<string, string>>
}

interface Sample {
  readonly owner: string
  readonly name: string
  readonly description: string
  readonly isPrivate: boolean
  readonly commits: readonly SampleCommit[]
}

const license = `MIT License

Copyright (c) 2025 Ada Lovelace

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`

const samples: readonly Sample[] = [
  {
    owner: ada.login,
    ...sampleRepository,
    isPrivate: false,
    commits: [
      {
        message: 'Write a number of seconds as hours, minutes and seconds',
        files: {
          LICENSE: license,
          'package.json': `{
  "name": "sample",
  "version": "1.0.0",
  "description": "Writes durations the way people say them",
  "license": "MIT",
  "type": "module",
  "exports": "./src/duration.js",
  "scripts": {
    "test": "node --test"
  }
}
`,
          'src/duration.js': `const units = [
  ['h', 3600],
  ['min', 60],
  ['s', 1],
]

/** Writes a whole number of seconds as people say it: 3725 is '1 h 2 min 5 s'. */
export function formatDuration(seconds) {
  let rest = seconds
  const parts = []
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(\`\${count} \${unit}\`)
  }
  return parts.length > 0 ? parts.join(' ') : '0 s'
}
`,
          'README.md': `# sample

Writes durations the way people say them.

    import { formatDuration } from 'sample'

    formatDuration(3725) // '1 h 2 min 5 s'
`,
        },
      },
      {
        message: 'Say by tests what a duration looks like',
        files: {
          'test/duration.test.js': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDuration } from '../src/duration.js'

test('each unit that counts is written', () => {
  assert.equal(formatDuration(3725), '1 h 2 min 5 s')
})

test('units of which there are none are left out', () => {
  assert.equal(formatDuration(3600), '1 h')
  assert.equal(formatDuration(61), '1 min 1 s')
})

test('nothing takes 0 s', () => {
  assert.equal(formatDuration(0), '0 s')
})
`,
          'README.md': `# sample

Writes durations the way people say them.

    import { formatDuration } from 'sample'

    formatDuration(3725) // '1 h 2 min 5 s'

Run the tests with \`npm test\`.

## Ideas
- Days, for what takes longer.
- Negative durations and fractions of a second.
`,
        },
      },
    ],
  },
  {
    owner: acme.login,
    name: 'handbook',
    description: 'How we work at Acme',
    isPrivate: false,
    commits: [
      {
        message: 'Write down how we work',
        files: {
          'README.md': `# Handbook

How we work at Acme.

- [Reviews](reviews.md)
- [Releases](releases.md)
`,
          'reviews.md': `# Reviews

A change is small enough to be read in one sitting. Whoever reads it runs it.
`,
          'releases.md': `# Releases

We release on Tuesdays. What is not ready waits a week.
`,
        },
      },
    ],
  },
  {
    owner: ada.login,
    name: 'notes',
    description: 'Things to remember',
    isPrivate: true,
    commits: [
      {
        message: 'Start taking notes',
        files: {
          'README.md': `# Notes

- The engine weaves algebraic patterns.
- Ask Charles about the punched cards.
`,
        },
      },
    ],
  },
]

/** Creates the sample repositories in an empty code host. */
export async function makeSamples(parts: {
  readonly git: Git
  readonly repositories: Repositories
}): Promise<void> {
  const { git, repositories } = parts
  // Lists show the newest repository first, so the first sample is made last.
  for (const { commits, ...about } of [...samples].reverse()) {
    await repositories.create({ ...about, source: null }, async (dir) => {
      await repositories.buildEmpty(dir)
      await git.text([`--git-dir=${dir}`, 'fast-import', '--quiet'], { input: importStream(commits) })
    })
  }
}

const firstOfJanuary2025 = 1_735_725_600

/** The commits, one hour apart, in the input format of git's fast-import. */
function importStream(commits: readonly SampleCommit[]): string {
  return commits
    .map((commit, index) => {
      const by = `${ada.name} <${ada.email}> ${firstOfJanuary2025 + index * 3600} +0000`
      const files = Object.entries(commit.files).map(
        ([path, text]) => `M 100644 inline ${path}\n${data(text)}`,
      )
      return `commit refs/heads/main\nauthor ${by}\ncommitter ${by}\n${data(commit.message)}${files.join('')}`
    })
    .join('')
}

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`
