export function Projects() {
  return <p>Projects</p>
}
