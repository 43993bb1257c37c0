/** A process that dies before or after a call: the step of this number, two to each call. Nothing that it asks for comes to pass from then on. */
export function dyingProcess(atStep: number) {
  let step = 0
  const alive = () => {
    step += 1
    if (step >= atStep) throw new Error('The process is dead.')
  }
  return {
    isDead: () => step >= atStep,
    /** The call, as this process makes it. */
    cut:
      <Args extends readonly unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
      async (...args: Args): Promise<Result> => {
        alive()
        const result = await call(...args)
        alive()
        return result
      },
  }
}
