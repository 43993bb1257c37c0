/** How the reference page looks: the client's colours, without its style sheet. */

export const style = `
:root{color-scheme:light dark;--page:#fbfbfc;--card:#fff;--line:#d9dce2;--text:#16181d;--muted:#5b6270;--link:#4a45c9;--get:#146c38;--post:#0b5cad;--put:#835200;--delete:#b3261e}
@media (prefers-color-scheme:dark){:root{--page:#0e1013;--card:#15181d;--line:#2b3038;--text:#eceef1;--muted:#a3abb8;--link:#a9a6ff;--get:#5fd38d;--post:#79b8ff;--put:#f0b849;--delete:#ff8a80}}
*{box-sizing:border-box}
body{margin:0;display:grid;grid-template-columns:19rem minmax(0,1fr);background:var(--page);color:var(--text);font:15px/1.55 ui-sans-serif,system-ui,sans-serif}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:3px}
.skip{position:absolute;left:-999px}.skip:focus{left:1rem;top:1rem;background:var(--card);padding:.5rem}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.25rem;border-right:1px solid var(--line);background:var(--card);font-size:13px}
nav .tag{margin:1.25rem 0 .25rem;font-size:11px;letter-spacing:.05em;text-transform:uppercase;color:var(--muted)}
nav ul{list-style:none;margin:0;padding:0}nav li a{display:block;padding:.2rem 0;color:inherit}
.brand{margin:0;font-weight:600;font-size:15px}.brand span{color:var(--muted);font-weight:400}
main{padding:2rem;max-width:60rem}
h1{font-size:1.6rem;margin:0 0 1rem}h1 small,h4 small{color:var(--muted);font-weight:400}
main h2{margin:2.5rem 0 .25rem;font-size:1.2rem}
article{margin:1rem 0;padding:1.25rem;background:var(--card);border:1px solid var(--line);border-radius:10px;scroll-margin-top:1rem}
article:target{border-color:var(--link)}
h3{margin:0 0 .5rem;font-size:1rem}h4{margin:1rem 0 .25rem;font-size:.85rem}
code{font:13px/1.4 ui-monospace,monospace;overflow-wrap:anywhere}
.address{margin:0}.who{margin:.25rem 0;color:var(--muted);font-size:13px}
.method{font:600 11px/1 ui-monospace,monospace;display:inline-block;min-width:3.2em}
.get{color:var(--get)}.post{color:var(--post)}.put{color:var(--put)}.delete{color:var(--delete)}
table{width:100%;border-collapse:collapse;font-size:13px;margin-top:.75rem}
caption{text-align:left;font-weight:600;padding-bottom:.25rem}
th,td{text-align:left;vertical-align:top;padding:.35rem .75rem .35rem 0;border-top:1px solid var(--line);font-weight:400}
td p{margin:0}th code{white-space:nowrap}
.members{list-style:none;margin:.25rem 0;padding-left:.9rem;border-left:1px solid var(--line);font-size:13px}
.members em{color:var(--muted)}.type{color:var(--muted)}
details{margin-top:.75rem;font-size:13px}summary{cursor:pointer;color:var(--muted)}
dl{display:grid;grid-template-columns:3rem 1fr;gap:.25rem .5rem;margin:.5rem 0 0}dd,dd p{margin:0}
@media (max-width:48rem){body{display:block}nav{position:static;height:auto;border-right:0;border-bottom:1px solid var(--line)}main{padding:1rem}th,td{display:block;border:0;padding:0}tr{display:block;padding:.4rem 0;border-top:1px solid var(--line)}}
`
