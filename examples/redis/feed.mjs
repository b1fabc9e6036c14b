// A feed that shows no user the same article twice, with node-redis.
//
// usage: node feed.mjs [SOCKET]     (a unix socket; default: the server on localhost), after
// `npm install @redis/client @redis/bloom`
import { createRequire } from 'node:module';

const require = createRequire(process.cwd() + '/');
const { createClient } = require('@redis/client');
const bloom = require('@redis/bloom').default;

const socket = process.argv[2] ? { path: process.argv[2] } : {};
const client = createClient({ socket, modules: { bf: bloom.bf } });
await client.connect();

// The articles that the user has not seen yet; marks them as seen.
async function feed(user, articles) {
  const key = `shown:${user}`;
  // One filter per user, which grows with what they read.
  await client.sendCommand(['BF.RESERVE', key, '0.01', '100', 'IFNOTEXISTS']);
  const isNew = await client.bf.mAdd(key, articles);
  return articles.filter((_, i) => isNew[i]);
}

console.log(JSON.stringify(await feed('ada', ['a1', 'a2', 'a3'])));
console.log(JSON.stringify(await feed('ada', ['a2', 'a3', 'a4'])));
await client.close();
