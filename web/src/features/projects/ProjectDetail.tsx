export function ProjectDetail() {
  return <p>ProjectDetail</p>
}
