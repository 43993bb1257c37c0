/**
 * The system calls that are refused in sandboxes. From this one list, bubblewrap's filter, the profile of
 * containers and the profile of the runner, `deploy/runner.seccomp.json`, are made. Has no side effects.
 *
 * ptrace(2) and process_vm_readv(2) are allowed, because debuggers need them. A sandbox has its own user, so they
 * only reach the sandbox. A tracer cannot get around the filter: the kernel applies it again to a call that the
 * tracer has changed. personality(2) is allowed too, because it can do no harm: 32-bit programs are refused, and no
 * program gains a right when it starts.
 */

interface Rule {
  readonly why: string
  readonly names: readonly CallName[]
  /** The error that the program gets; EPERM by default. */
  readonly errno?: number
  /**
   * Refuses the call only for some values of the argument at `index`: if its lower 32 bits, masked by `mask`, equal `value`, or if all 64 bits, as a
   * number, are above `above`.
   */
  readonly argument?:
    | { readonly index: number; readonly mask: number; readonly value: number }
    | { readonly index: number; readonly above: number }
  /** Set for a call that makes memory which no process shows. It is refused unless the kernel counts the memory. */
  readonly isHiddenMemory?: true
  /** Set for a call that a runner in a container needs to make sandboxes. The call is refused only inside sandboxes. */
  readonly isForMakingSandboxes?: true
}

const EPERM = 1
const EINVAL = 22
const ENOSYS = 38
/** The error of file systems that do not support a call: libraries then use another call. */
const EOPNOTSUPP = 95
const allBits = 0xffff_ffff

const socketOf = (family: number, why: string): Rule => ({
  why,
  names: ['socket'],
  argument: { index: 0, mask: allBits, value: family },
})
/** Refuses one request of `ioctl`, with the error of a file system that does not support the request. Programs expect this error. */
const ioctlOf = (request: number, why: string): Rule => ({
  why,
  names: ['ioctl'],
  argument: { index: 1, mask: allBits, value: request },
  errno: EOPNOTSUPP,
})
const cloneWith = (flag: number, why: string): Rule => ({
  why: `a namespace: ${why}`,
  names: ['clone'],
  argument: { index: 0, mask: flag, value: flag },
  isForMakingSandboxes: true,
})

const rules: readonly Rule[] = [
  {
    why: 'the kernel itself',
    names: [
      'init_module',
      'finit_module',
      'delete_module',
      'create_module',
      'query_module',
      'get_kernel_syms',
      'kexec_load',
      'kexec_file_load',
      'reboot',
      'acct',
      'swapon',
      'swapoff',
      'syslog',
      'bpf',
      'perf_event_open',
      'quotactl',
      'quotactl_fd',
      'lookup_dcookie',
      'nfsservctl',
      'iopl',
      'ioperm',
      'modify_ldt',
      'vhangup',
      'fanotify_init',
      'uselib',
      'ustat',
      'sysfs',
      '_sysctl',
    ],
  },
  { why: 'the clock of the machine', names: ['settimeofday', 'clock_settime', 'clock_adjtime', 'adjtimex'] },
  { why: 'keys of the kernel, which have no namespace', names: ['keyctl', 'add_key', 'request_key'] },
  {
    why: 'ways in that have often led further than they should, and that no agent needs',
    names: [
      'userfaultfd',
      'io_uring_setup',
      'io_uring_enter',
      'io_uring_register',
      'open_by_handle_at',
      'kcmp',
      'process_madvise',
      'move_pages',
      'migrate_pages',
      'mbind',
      'set_mempolicy',
      'set_mempolicy_home_node',
    ],
  },
  {
    why: 'the newer calls to mount, which bubblewrap does not use, and other namespaces, which it does not enter',
    names: ['fsopen', 'fsconfig', 'fsmount', 'fspick', 'open_tree', 'move_mount', 'mount_setattr', 'setns'],
  },
  socketOf(17, 'raw packets'),
  socketOf(21, 'RDS'),
  socketOf(29, 'CAN'),
  socketOf(30, 'TIPC'),
  socketOf(38, 'the cryptography of the kernel'),
  socketOf(40, 'the hypervisor'),
  {
    why: 'a file of any size in a moment: what is only written can be stopped before it fills the disk. Without FALLOC_FL_PUNCH_HOLE',
    names: ['fallocate'],
    argument: { index: 1, mask: 2, value: 0 },
    errno: EOPNOTSUPP,
  },
  ioctlOf(
    0x401c_5820,
    'FS_IOC_FSSETXATTR: an owner may take files out of the project whose quota limits a workspace',
  ),
  ioctlOf(0x4008_6602, 'FS_IOC_SETFLAGS: the same, for what is made in a folder from then on'),
  // This rule is for `seccompProfile`. In `seccompFilter`, the call's number is above `lastKnown`, so the call fails like one that does not exist.
  { why: 'both, without ioctl', names: ['file_setattr'], errno: EOPNOTSUPP },
  {
    why: 'mounts and namespaces',
    names: ['mount', 'umount2', 'pivot_root', 'chroot', 'unshare'],
    isForMakingSandboxes: true,
  },
  cloneWith(0x0002_0000, 'mounts'),
  cloneWith(0x0200_0000, 'control groups'),
  cloneWith(0x0400_0000, 'names of the machine'),
  cloneWith(0x0800_0000, 'messages'),
  cloneWith(0x1000_0000, 'users'),
  cloneWith(0x2000_0000, 'processes'),
  cloneWith(0x4000_0000, 'network'),
  {
    why: 'its flags are where no filter can read them; libraries use clone instead when it is not there',
    names: ['clone3'],
    errno: ENOSYS,
    isForMakingSandboxes: true,
  },
  {
    why: 'a thread with open files of its own, where nobody looks for memory',
    names: ['clone'],
    // This mask and this value match a call with CLONE_THREAD and without CLONE_FILES.
    argument: { index: 0, mask: 0x0001_0400, value: 0x0001_0000 },
  },
  {
    why: 'the same, begun later',
    names: ['close_range'],
    // The flag CLOSE_RANGE_UNSHARE has the value 2.
    argument: { index: 2, mask: 2, value: 2 },
  },
  {
    why: 'it can be on its way through a socket; programs do without, as on older kernels',
    names: ['memfd_create', 'memfd_secret'],
    errno: ENOSYS,
    isHiddenMemory: true,
  },
  {
    why: 'a segment that nobody has attached; 4096 small ones stay, which databases lock by',
    names: ['shmget'],
    argument: { index: 1, above: 65_536 },
    // The error of shmget(2) for a segment that is larger than the machine allows.
    errno: EINVAL,
    isHiddenMemory: true,
  },
]

/** The numbers of the calls on x86_64 and on aarch64; `null` when the architecture does not have the call. */
const numbers = {
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  create_module: [174, null],
  query_module: [178, null],
  get_kernel_syms: [177, null],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  acct: [163, 89],
  swapon: [167, 224],
  swapoff: [168, 225],
  syslog: [103, 116],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  lookup_dcookie: [212, 18],
  nfsservctl: [180, 42],
  iopl: [172, null],
  ioperm: [173, null],
  modify_ldt: [154, null],
  vhangup: [153, 58],
  fanotify_init: [300, 262],
  uselib: [134, null],
  ustat: [136, null],
  sysfs: [139, null],
  _sysctl: [156, null],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  open_by_handle_at: [304, 265],
  kcmp: [312, 272],
  process_madvise: [440, 440],
  move_pages: [279, 239],
  migrate_pages: [256, 238],
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  set_mempolicy_home_node: [450, 450],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  open_tree: [428, 428],
  move_mount: [429, 429],
  mount_setattr: [442, 442],
  setns: [308, 268],
  socket: [41, 198],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  unshare: [272, 97],
  clone: [56, 220],
  clone3: [435, 435],
  close_range: [436, 436],
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  shmget: [29, 194],
  fallocate: [285, 47],
  ioctl: [16, 29],
  file_setattr: [469, 469],
} as const satisfies Record<string, readonly [number | null, number | null]>
export type CallName = keyof typeof numbers

/**
 * In a sandbox of bubblewrap, system calls with higher numbers than this fail as if they did not exist, because nobody has reviewed them. The calls
 * of x32 fail too, because their numbers are far higher.
 */
const lastKnown = 466

const architectures = {
  x64: { audit: 0xc000_003e, column: 0 },
  arm64: { audit: 0xc000_00b7, column: 1 },
} as const

/**
 * The filter of a sandbox in the form that the kernel loads, seccomp(2); `undefined` for another architecture. `memoryBy` says whether the kernel
 * counts the memory of the sandbox, or whether we count it by looking at processes.
 */
export function seccompFilter(arch: string, memoryBy: 'kernel' | 'processes'): Buffer | undefined {
  if (arch !== 'x64' && arch !== 'arm64') return undefined
  const { audit, column } = architectures[arch]
  const refuse = (errno: number): Instruction => [returns, 0, 0, 0x0005_0000 | errno]
  const ofRule = ({ names, argument, errno = EPERM }: Rule): Instruction[] =>
    names.flatMap((name) => {
      const number = numbers[name][column]
      if (number === null) return []
      if (!argument) return [[ifEqual, 0, 1, number], refuse(errno)]
      if ('above' in argument)
        return [
          [ifEqual, 0, 6, number],
          [load, 0, 0, 20 + 8 * argument.index],
          [ifEqual, 0, 2, 0],
          [load, 0, 0, 16 + 8 * argument.index],
          [ifGreater, 0, 1, argument.above],
          refuse(errno),
          [load, 0, 0, 0],
        ]
      return [
        [ifEqual, 0, 5, number],
        // Loads the lower half of an argument; both architectures are little-endian.
        [load, 0, 0, 16 + 8 * argument.index],
        [and, 0, 0, argument.mask],
        [ifEqual, 0, 1, argument.value],
        refuse(errno),
        [load, 0, 0, 0],
      ]
    })
  const program: readonly Instruction[] = [
    [load, 0, 0, 4],
    [ifEqual, 1, 0, audit],
    // Another architecture has other numbers, so its processes are ended.
    [returns, 0, 0, 0x8000_0000],
    [load, 0, 0, 0],
    [ifGreater, 0, 1, lastKnown],
    refuse(ENOSYS),
    ...rules.filter(({ isHiddenMemory }) => !isHiddenMemory || memoryBy === 'processes').flatMap(ofRule),
    [returns, 0, 0, 0x7fff_0000],
  ]
  const bytes = Buffer.alloc(program.length * 8)
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(ifTrue, index * 8 + 2)
    bytes.writeUInt8(ifFalse, index * 8 + 3)
    bytes.writeUInt32LE(value, index * 8 + 4)
  }
  return bytes
}

/** A `struct sock_filter`: its code, how many instructions to skip when its test is true and when it is false, and a value. */
type Instruction = readonly [number, number, number, number]
const load = 0x20
const and = 0x54
const ifEqual = 0x15
const ifGreater = 0x25
const returns = 0x06

/**
 * The filter as a profile for a container engine: for a sandbox that is a container, or for a runner in a container that makes its own sandboxes.
 * Profiles cannot express calls that are newer than those the engine knows.
 */
export function seccompProfile(of: 'sandbox' | 'runner'): object {
  // The calls that make hidden memory are allowed in a container: if its memory is limited, the kernel counts all of it.
  const applied = rules.filter(
    ({ isForMakingSandboxes, isHiddenMemory }) =>
      !isHiddenMemory && (of === 'sandbox' || !isForMakingSandboxes),
  )
  return {
    defaultAction: 'SCMP_ACT_ALLOW',
    archMap: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_AARCH64'].map((architecture) => ({
      architecture,
      subArchitectures: [],
    })),
    syscalls: applied.map(({ names, why, errno = EPERM, argument }) => ({
      names,
      action: 'SCMP_ACT_ERRNO',
      errnoRet: errno,
      comment: why,
      ...(argument && { args: [comparison(argument)] }),
    })),
  }
}

function comparison(argument: NonNullable<Rule['argument']>): object {
  const { index } = argument
  return 'above' in argument
    ? { index, value: argument.above, op: 'SCMP_CMP_GT' }
    : { index, value: argument.mask, valueTwo: argument.value, op: 'SCMP_CMP_MASKED_EQ' }
}

/**
 * The number of a call on this machine, for a program that makes the call by number; `null` when the machine's architecture does not have the call,
 * or is unknown.
 */
export function callNumber(name: CallName): number | null {
  return process.arch === 'x64' || process.arch === 'arm64'
    ? numbers[name][architectures[process.arch].column]
    : null
}
