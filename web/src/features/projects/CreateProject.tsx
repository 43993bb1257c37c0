export function CreateProject() {
  return <p>CreateProject</p>
}
