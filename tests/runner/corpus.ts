/** Awkward repositories for tests, each with what a task then does in its tree. The same work is done in a workspace and in a plain clone. */
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { testPath } from './workspaceScene.ts'

export interface AwkwardRepository {
  readonly name: string
  /** Fills the tree of the first commit; without it, the repository is empty. */
  readonly base?: (tree: Tree) => void
  /** Changes the repository at the host after the task got its workspace. */
  readonly meanwhile?: (tree: Tree) => void
  /** The work of the task. */
  readonly work?: (tree: Tree) => void
  /** Further work of the task, after its work so far was committed. */
  readonly afterCommit?: (tree: Tree) => void
  /** The files for which our diff differs from plain git's, with a pattern for the beginning of our diff. */
  readonly toldOtherwise?: Readonly<Record<string, RegExp>>
}

/** A folder that a case writes to. A path may be bytes, since a file name need not be text. */
export interface Tree {
  readonly dir: string
  write(path: string | Buffer, content: string | Uint8Array): void
  append(path: string, text: string): void
  remove(path: string): void
  move(from: string, to: string): void
  link(path: string, to: string): void
  mode(path: string, mode: number): void
  read(path: string): string
  git(...args: string[]): string
  commit(): void
}

export function treeAt(dir: string): Tree {
  const at = (path: string): string => join(dir, path)
  const makeRoom = (path: string): void => void mkdirSync(dirname(at(path)), { recursive: true })
  const tree: Tree = {
    dir,
    write(path, content) {
      if (typeof path === 'string') makeRoom(path)
      writeFileSync(
        typeof path === 'string' ? at(path) : Buffer.concat([Buffer.from(`${dir}/`), path]),
        content,
      )
    },
    append: (path, text) => appendFileSync(at(path), text),
    remove: (path) => rmSync(at(path), { recursive: true }),
    move(from, to) {
      makeRoom(to)
      renameSync(at(from), at(to))
    },
    link(path, to) {
      makeRoom(path)
      symlinkSync(to, at(path))
    },
    mode: (path, mode) => chmodSync(at(path), mode),
    read: (path) => readFileSync(at(path), 'latin1'),
    git: (...args) => plainGit(dir, args).toString('utf8'),
    commit() {
      tree.git('add', '-A', '--force')
      tree.git('commit', '-q', '--allow-empty', '-m', 'A change')
    },
  }
  return tree
}

/** Runs git as a person does in a repository they trust, with settings of its own only. */
export function plainGit(dir: string, args: readonly string[]): Buffer {
  return execFileSync('git', ['-C', dir, ...args], {
    env: {
      PATH: testPath,
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'core.quotePath',
      GIT_CONFIG_VALUE_0: 'false',
      GIT_CONFIG_KEY_1: 'advice.addEmbeddedRepo',
      GIT_CONFIG_VALUE_1: 'false',
      GIT_AUTHOR_NAME: 'Ada Lovelace',
      GIT_AUTHOR_EMAIL: 'ada@example.com',
      GIT_COMMITTER_NAME: 'Ada Lovelace',
      GIT_COMMITTER_EMAIL: 'ada@example.com',
      // The work is done twice, and its commits are only the same if their times are.
      GIT_AUTHOR_DATE: '2026-01-02T03:04:05Z',
      GIT_COMMITTER_DATE: '2026-01-02T03:04:05Z',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  })
}

const lines = (count: number, of = 'line'): string =>
  Array.from({ length: count }, (_, n) => `${of} ${n}\n`).join('')
const named = (names: readonly string[]) => ({
  base: (tree: Tree) => names.slice(1).forEach((name) => tree.write(name, lines(6, name.length.toString()))),
  work(tree: Tree) {
    const [first = '', second = '', third = '', ...rest] = names
    tree.write(first, 'new\n')
    tree.append(second, 'more\n')
    if (third) tree.remove(third)
    rest.forEach((name, n) => (n % 2 ? tree.write(name, 'other\n') : tree.append(name, 'and more\n')))
  },
})
const readme = (tree: Tree): void => tree.write('README.md', '# Sample\n')
const noise = (size: number, seed = 1): Uint8Array =>
  Uint8Array.from({ length: size }, (_, n) => (n * n * 31 + n * seed * 7) % 256)
/** Creates a repository with one commit, in a folder of the tree. */
const repositoryIn = (tree: Tree, folder: string, text = 'inside\n'): void => {
  tree.write(`${folder}/inside.txt`, text)
  const own = treeAt(join(tree.dir, folder))
  own.git('init', '-q', '-b', 'main')
  own.commit()
}
const aCommit = '1234567890123456789012345678901234567890'
const withSubmodule = (tree: Tree): void => {
  readme(tree)
  tree.write('.gitmodules', '[submodule "lib"]\n\tpath = lib\n\turl = https://example.invalid/lib.git\n')
  tree.git('add', '-A')
  tree.git('update-index', '--add', '--cacheinfo', `160000,${aCommit},lib`)
  tree.git('commit', '-q', '-m', 'A submodule')
  mkdirSync(join(tree.dir, 'lib'), { recursive: true })
}
const pointer = (digit: string): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${digit.repeat(64)}\nsize 12345\n`

export const awkwardRepositories: readonly AwkwardRepository[] = [
  {
    name: 'no commit yet',
    work(tree) {
      tree.write('first.txt', 'first\n')
      tree.write('src/second.js', 'second')
      tree.link('link', 'first.txt')
    },
  },
  { name: 'no change at all', base: readme },
  { name: 'one empty commit', base: () => undefined, work: readme },
  {
    name: 'everything removed',
    base(tree) {
      readme(tree)
      tree.write('a/b/c.txt', lines(9))
    },
    work(tree) {
      tree.remove('README.md')
      tree.remove('a')
    },
  },
  { name: 'line ends in names', ...named(['a\nb', 'tab\there', 'cr\rthere', 'x\r\ny/z\n', '\n']) },
  { name: 'quotes and backslashes', ...named(['say "hi"', "it's", 'back\\slash', '"', '\\', '\\n', '`ls`']) },
  {
    name: 'escape sequences in names',
    ...named(['\u001B[31mred', '\u0007bell', 'del\u007F', '\u001B]0;title\u0007', 'c1\u009B31m', '\b\f\v']),
  },
  {
    name: 'names that read from the right, or not at all',
    ...named(['rtl \u202Egpj.exe', '\u2066isolate\u2069', 'zero\u200Bwidth', '\u00AD', '\uFEFFbom']),
  },
  {
    name: 'names that are no text',
    base: (tree) => tree.write(Buffer.from([0x62, 0xe4, 0x73, 0x65]), lines(5)),
    work(tree) {
      tree.write(Buffer.from([0x62, 0xe4, 0x73, 0x65]), lines(6))
      tree.write(Buffer.from([0xff, 0xfe]), 'new\n')
      tree.write(Buffer.from([0xc3, 0x28, 0x0a, 0x22]), 'new\n')
    },
  },
  { name: 'options for names', ...named(['-rf', '--output=x', '--', '-', '--upload-pack=x', '-c', '@{u}']) },
  {
    name: 'patterns for names',
    ...named([':(top)x', ':!no', '*', '[a-z]', '?', ':', '!bang', '#hash', 'a**b', '{a,b}']),
  },
  { name: 'spaces and dots', ...named([' ', ' lead', 'trail ', 'dot.', '...', '.hidden', '~', 'a  b']) },
  {
    name: 'names of git',
    ...named(['HEAD', 'refs/heads/main', 'index', 'origin/main', 'FETCH_HEAD', 'a/b']),
  },
  {
    name: 'one letter written in two ways',
    ...named(['caf\u00E9', 'cafe\u0301', '\u212B', '\u00C5', 'A\u030A']),
  },
  { name: 'names that differ in case', ...named(['Readme', 'README', 'readme', 'Src/a', 'src/a']) },
  {
    name: 'very long and very deep names',
    ...named([
      'n'.repeat(255),
      'm'.repeat(255),
      `${'d/'.repeat(200)}f`,
      `${'e'.repeat(200)}/${'g'.repeat(250)}`,
    ]),
  },
  {
    name: 'binary files',
    base(tree) {
      for (const name of ['kept.bin', 'changed.bin', 'gone.bin', 'moved.bin']) tree.write(name, noise(5_000))
      tree.write('changed.bin', noise(3_000, 2))
    },
    work(tree) {
      tree.write('changed.bin', noise(3_000, 3))
      tree.remove('gone.bin')
      tree.move('moved.bin', 'here/moved.bin')
      tree.write('new.bin', noise(400, 5))
    },
  },
  {
    name: 'a zero byte late in a text',
    base: (tree) => tree.write('late.txt', lines(2_000)),
    work: (tree) => tree.append('late.txt', 'zero \0 here\n'),
  },
  {
    name: 'text in other encodings',
    base(tree) {
      tree.write('utf16.txt', Buffer.from('\uFEFFeins\nzwei\n', 'utf16le'))
      tree.write('bom.txt', '\uFEFFone\ntwo\n')
      tree.write('latin1.txt', Buffer.from('gr\u00FCn\nblau\n', 'latin1'))
    },
    work(tree) {
      tree.write('utf16.txt', Buffer.from('\uFEFFeins\ndrei\n', 'utf16le'))
      tree.write('bom.txt', 'one\ntwo\n')
      tree.write('latin1.txt', Buffer.from('gr\u00FCn\nblau\nwei\u00DF\n', 'latin1'))
    },
  },
  {
    name: 'text that its attributes keep in another encoding',
    base(tree) {
      tree.write('.gitattributes', '*.txt working-tree-encoding=UTF-16LE\n')
      tree.write('wide.txt', Buffer.from('eins\nzwei\n', 'utf16le'))
    },
    work: (tree) => tree.write('wide.txt', Buffer.from('eins\ndrei\n', 'utf16le')),
  },
  {
    name: 'CRLF kept as it is',
    base: (tree) => tree.write('dos.txt', 'one\r\ntwo\r\nthree\r\n'),
    work(tree) {
      tree.write('dos.txt', 'one\r\nTWO\r\nthree\r\n')
      tree.write('new.txt', 'a\r\nb\r\n')
    },
  },
  {
    name: 'CRLF that became LF',
    base(tree) {
      tree.write('dos.txt', lines(20).replaceAll('\n', '\r\n'))
      tree.write('unix.txt', lines(20))
    },
    work(tree) {
      tree.write('dos.txt', lines(20))
      tree.write('unix.txt', lines(20).replaceAll('\n', '\r\n'))
    },
  },
  {
    name: 'line ends by attribute',
    base(tree) {
      tree.write('.gitattributes', '* text=auto\n*.bat eol=crlf\n*.sh eol=lf\n*.raw -text\n')
      tree.write('run.bat', 'one\r\ntwo\r\n')
      tree.write('run.sh', 'one\ntwo\n')
      tree.write('as.raw', 'one\r\ntwo\n')
      tree.write('auto.txt', 'one\ntwo\n')
    },
    work(tree) {
      tree.write('run.bat', 'one\r\nTWO\r\n')
      tree.write('run.sh', 'one\r\ntwo\r\n')
      tree.write('as.raw', 'one\ntwo\r\n')
      tree.write('auto.txt', 'one\r\ntwo\r\nthree\r\n')
      tree.write('new.bat', 'new\r\n')
    },
  },
  {
    name: 'files whose line ends are not as their attributes say',
    base(tree) {
      tree.write('mixed.txt', 'one\r\ntwo\nthree\rfour\n')
      tree.git('add', '-A')
      tree.git('commit', '-q', '-m', 'First without attributes')
      tree.write('.gitattributes', '*.txt text\n')
      tree.git('add', '.gitattributes')
      tree.git('commit', '-q', '-m', 'Attributes')
    },
    work: (tree) => tree.write('mixed.txt', 'one\r\ntwo\nthree\rfour\r\nfive\n'),
  },
  {
    name: 'no line end at the end',
    base(tree) {
      tree.write('gains', 'a\nb')
      tree.write('loses', 'a\nb\n')
      tree.write('keeps', 'a\nb')
      tree.write('goes', 'a\nb')
    },
    work(tree) {
      tree.write('gains', 'a\nb\n')
      tree.write('loses', 'a\nb')
      tree.write('keeps', 'A\nb')
      tree.remove('goes')
      tree.write('comes', 'a')
    },
  },
  {
    name: 'empty files',
    base(tree) {
      tree.write('emptied', lines(5))
      tree.write('filled', '')
      tree.write('gone', '')
      tree.write('moved', '')
    },
    work(tree) {
      tree.write('emptied', '')
      tree.write('filled', lines(5))
      tree.remove('gone')
      tree.move('moved', 'elsewhere')
      tree.write('new', '')
    },
  },
  {
    name: 'modes',
    base(tree) {
      for (const name of ['plain', 'run', 'both', 'odd', 'moves']) tree.write(name, lines(5, name))
      tree.mode('run', 0o755)
    },
    work(tree) {
      tree.mode('plain', 0o755)
      tree.mode('run', 0o644)
      tree.append('both', 'more\n')
      tree.mode('both', 0o755)
      // The only bit of a mode that git stores is whether the owner may execute the file.
      tree.mode('odd', 0o600)
      tree.move('moves', 'moved')
      tree.mode('moved', 0o755)
      tree.write('new.sh', '#!/bin/sh\n')
      tree.mode('new.sh', 0o755)
    },
  },
  {
    name: 'links',
    base(tree) {
      readme(tree)
      tree.link('kept', 'README.md')
      tree.link('turned', 'README.md')
      tree.link('gone', 'nowhere')
      tree.link('out', '/etc/passwd')
    },
    work(tree) {
      tree.remove('turned')
      tree.link('turned', '../../../../etc/passwd')
      tree.remove('gone')
      tree.link('loop', 'loop')
      tree.link('new', '/etc/shadow')
      tree.link('folder', '/etc')
    },
  },
  {
    name: 'files that become links and links that become files',
    base(tree) {
      tree.write('file', lines(5))
      tree.link('link', 'file')
      tree.write('dir/a', 'a\n')
    },
    work(tree) {
      tree.remove('file')
      tree.link('file', 'elsewhere')
      tree.remove('link')
      tree.write('link', lines(4, 'other'))
      tree.remove('dir')
      tree.link('dir', '/etc')
    },
  },
  {
    name: 'files that become folders and folders that become files',
    base(tree) {
      tree.write('file', lines(5))
      tree.write('dir/a', lines(5, 'a'))
      tree.write('dir/b/c', lines(5, 'c'))
    },
    work(tree) {
      tree.remove('file')
      tree.write('file/inside', 'inside\n')
      tree.remove('dir')
      tree.write('dir', 'a file\n')
    },
  },
  {
    name: 'moves',
    base(tree) {
      tree.write('pure.txt', lines(30, 'pure'))
      tree.write('edited.txt', lines(30, 'edited'))
      tree.write('too/much.txt', lines(30, 'much'))
      tree.write('one "quoted"\n.txt', lines(30, 'quoted'))
    },
    work(tree) {
      tree.move('pure.txt', 'to/pure.txt')
      tree.move('edited.txt', 'edited2.txt')
      tree.append('edited2.txt', 'one more\n')
      tree.remove('too/much.txt')
      tree.write('too/other.txt', lines(30, 'nothing like it'))
      tree.move('one "quoted"\n.txt', 'two\t.txt')
    },
  },
  {
    name: 'moves in a circle, and copies',
    base(tree) {
      tree.write('a', lines(30, 'a'))
      tree.write('b', lines(30, 'b'))
      tree.write('c', lines(30, 'c'))
    },
    work(tree) {
      tree.move('a', 'x')
      tree.move('b', 'a')
      tree.move('x', 'b')
      tree.write('copy', lines(30, 'c'))
      tree.move('c', 'first')
      tree.write('second', lines(30, 'c'))
    },
  },
  {
    name: 'ignore rules',
    base(tree) {
      tree.write('.gitignore', '*.log\n!kept.log\n/build/\nname with space\n')
      tree.write('sub/.gitignore', 'secret\n!*.log\n')
      tree.write('tracked.log', 'tracked although ignored\n')
    },
    work(tree) {
      tree.append('tracked.log', 'changed\n')
      for (const path of [
        'a.log',
        'kept.log',
        'build/x',
        'sub/secret',
        'sub/b.log',
        'sub/build/y',
        'name with space',
      ])
        tree.write(path, 'x\n')
      tree.write('new/.gitignore', '*\n')
      tree.write('new/hidden', 'x\n')
    },
  },
  {
    name: 'attributes that say how to compare',
    base(tree) {
      tree.write(
        '.gitattributes',
        '*.lock -diff\n*.svg binary\n*.dat diff\n*.py diff=python\n*.id ident\n*.x diff=evil merge=evil\n',
      )
      tree.write('a.lock', lines(9))
      tree.write('a.svg', '<svg/>\n')
      tree.write('a.dat', 'zero \0\none\n')
      tree.write('a.py', `def first():\n${lines(9, '    x =')}\ndef second():\n${lines(9, '    y =')}`)
      tree.write('a.id', '$Id$\nrest\n')
      tree.write('a.x', lines(5))
    },
    work(tree) {
      for (const name of ['a.lock', 'a.svg', 'a.dat', 'a.py', 'a.id', 'a.x']) tree.append(name, 'more\n')
    },
  },
  {
    name: 'pointers to large files',
    base(tree) {
      tree.write('.gitattributes', '*.psd filter=lfs diff=lfs merge=lfs -text\n')
      tree.write('kept.psd', pointer('a'))
      tree.write('changed.psd', pointer('b'))
    },
    work(tree) {
      tree.write('changed.psd', pointer('c'))
      tree.write('new.psd', noise(900))
    },
  },
  { name: 'a submodule left alone', base: withSubmodule, work: (tree) => tree.append('README.md', 'more\n') },
  {
    name: 'a submodule taken out',
    base: withSubmodule,
    work(tree) {
      tree.remove('lib')
      tree.remove('.gitmodules')
    },
  },
  {
    name: 'a submodule that became a file',
    base: withSubmodule,
    work(tree) {
      tree.remove('lib')
      tree.write('lib', 'a file\n')
    },
  },
  {
    name: 'a submodule at another commit',
    base: withSubmodule,
    work: (tree) => repositoryIn(tree, 'lib'),
  },
  {
    name: 'a repository in the tree that came from elsewhere',
    base: readme,
    work(tree) {
      repositoryIn(tree, 'vendor/lib')
      treeAt(join(tree.dir, 'vendor/lib')).git('remote', 'add', 'origin', 'https://example.invalid/lib.git')
      tree.write('vendor/own.txt', 'own\n')
    },
    toldOtherwise: { 'vendor/lib': /^\\ This is a separate repository/ },
  },
  {
    name: 'a text that looks like a diff',
    base: (tree) => tree.write('patch', 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n'),
    work(tree) {
      tree.write(
        'patch',
        '\\ No newline at end of file\ndiff --git a/y b/y\n@@ -1 +1 @@\nBinary files a/z and b/z differ\n',
      )
      tree.write('diff --git a/x b/x', '\ndiff --git a/q b/q\n\n')
    },
  },
  {
    name: 'long lines',
    base: (tree) => tree.write('bundle.js', `${'x'.repeat(60_000)}\n`),
    work: (tree) => tree.write('bundle.js', `${'y'.repeat(60_000)}\n`),
  },
  {
    name: 'a thousand files',
    base(tree) {
      for (let n = 0; n < 1_000; n++) tree.write(`d${n % 10}/f${n}`, lines(3, String(n)))
    },
    work(tree) {
      for (let n = 0; n < 1_000; n++)
        if (n % 3 === 0) tree.append(`d${n % 10}/f${n}`, 'more\n')
        else if (n % 7 === 0) tree.remove(`d${n % 10}/f${n}`)
      for (let n = 0; n < 200; n++) tree.write(`new/f${n}`, `${n}\n`)
    },
  },
  {
    name: 'files too large to be compared',
    base: (tree) => tree.write('big.bin', Buffer.alloc(10_500_000, 'big\n')),
    work(tree) {
      tree.append('big.bin', 'more\n')
      tree.write('huge', '')
      truncateSync(join(tree.dir, 'huge'), 11_000_000)
      tree.write('small', 'small\n')
    },
    toldOtherwise: { 'big.bin': /^\\ The file is too large/, huge: /^\\ The file is too large/ },
  },
  {
    name: 'pipes',
    base(tree) {
      tree.write('file', lines(5))
      readme(tree)
    },
    work(tree) {
      tree.remove('file')
      execFileSync('mkfifo', [join(tree.dir, 'pipe')])
      tree.append('README.md', 'more\n')
    },
  },
  {
    name: 'names that git does not take',
    base: readme,
    work(tree) {
      tree.append('README.md', 'more\n')
      tree.write('git~1', 'as a file system of Windows would write it\n')
      tree.write('sub/.git ', 'x\n')
      tree.write('.GIT/config', 'x\n')
    },
    toldOtherwise: { 'git~1': /^\\ Git/, 'sub/.git ': /^\\ Git/, '.GIT/config': /^\\ Git/ },
  },
  {
    name: 'a base that moved on',
    base(tree) {
      readme(tree)
      tree.write('shared', lines(40))
    },
    meanwhile(tree) {
      tree.write('shared', lines(50))
      tree.commit()
      tree.move('README.md', 'readme.txt')
      tree.commit()
    },
    work(tree) {
      tree.append('shared', 'ours\n')
      tree.append('README.md', 'ours\n')
    },
  },
  {
    name: 'work in two steps, the first committed',
    base: readme,
    meanwhile(tree) {
      tree.write('other', 'x\n')
      tree.commit()
    },
    work(tree) {
      tree.write('committed', lines(5))
      tree.write('then changed', lines(5))
      tree.append('README.md', 'committed\n')
    },
    afterCommit(tree) {
      tree.append('then changed', 'more\n')
      tree.append('README.md', 'not committed\n')
      tree.write('untracked', 'x\n')
    },
  },
  {
    name: 'work that was committed and undone',
    base: readme,
    work: (tree) => tree.append('README.md', 'committed\n'),
    afterCommit: readme,
  },
  {
    name: 'histories that cross',
    base(tree) {
      readme(tree)
      tree.commit()
      tree.git('checkout', '-q', '-b', 'side')
      tree.write('side', lines(9))
      tree.commit()
      tree.git('checkout', '-q', 'main')
      tree.write('main', lines(9))
      tree.commit()
      tree.git('branch', 'before')
      tree.git('merge', '-q', '--no-edit', 'side')
      tree.git('checkout', '-q', 'side')
      tree.git('merge', '-q', '--no-edit', 'before')
      tree.git('checkout', '-q', 'main')
    },
    meanwhile: (tree) => void tree.git('merge', '-q', '--no-edit', '-s', 'ours', 'side'),
    work: (tree) => tree.append('side', 'ours\n'),
  },
  {
    name: 'refs with awkward names',
    base(tree) {
      readme(tree)
      tree.commit()
      for (const ref of [
        'refs/heads/--upload-pack=x',
        'refs/heads/-b',
        'refs/heads/HEAD',
        'refs/tags/main',
        'refs/heads/refs/heads/main',
        'refs/heads/a"b\u202Ec',
        'refs/replace/0000000000000000000000000000000000000001',
      ])
        tree.git('update-ref', ref, 'HEAD')
    },
    meanwhile(tree) {
      tree.write('more', 'x\n')
      tree.commit()
    },
    work: (tree) => tree.append('README.md', 'more\n'),
  },
]
