/** Stands in for curl on machines that have none: the three options that the README uses, and no other. */
const headers = {};
let body;
let url;
for (let index = 2; index < process.argv.length; index++) {
  const argument = process.argv[index];
  if (argument === '-sS') continue;
  if (argument === '-H') {
    const [name, value] = process.argv[++index].split(/:\s*/);
    headers[name] = value;
  } else if (argument === '-d') body = process.argv[++index];
  else if (argument.startsWith('http')) url = argument;
  else throw new Error(`unknown option ${argument}`);
}
const answer = await fetch(url, { method: body === undefined ? 'GET' : 'POST', headers, body });
process.stdout.write(await answer.text());
