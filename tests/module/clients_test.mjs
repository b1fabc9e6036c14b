// node-redis with its own @redis/bloom drives every command, as clients_test.py does with redis-py.
//
// usage: node clients_test.mjs SOCKET, where the packages @redis/client and @redis/bloom are found
import assert from 'node:assert';
import { createRequire } from 'node:module';

const require = createRequire(process.cwd() + '/');
const { createClient } = require('@redis/client');
const bloom = require('@redis/bloom').default;

const items = Array.from({ length: 200 }, (_, i) => `item ${i}`);
for (const RESP of [2, 3]) {
  const client = createClient({
    RESP, socket: { path: process.argv[2] }, modules: { bf: bloom.bf }
  });
  await client.connect();
  await client.flushAll();
  assert.equal(await client.bf.reserve('k', 0.01, 1000), 'OK');
  assert.equal(await client.bf.reserve('grows', 0.01, 10, { EXPANSION: 4 }), 'OK');
  assert.equal(await client.bf.reserve('fixed', 0.01, 10, { NONSCALING: true }), 'OK');
  assert.deepEqual([await client.bf.add('k', 'a'), await client.bf.add('k', 'a')], [true, false]);
  assert.deepEqual(await client.bf.mAdd('k', ['a', 'b', 'c']), [false, true, true]);
  assert.deepEqual(await client.bf.insert('n', ['x', 'y'], { CAPACITY: 50, ERROR: 0.001 }),
                   [true, true]);
  assert.deepEqual([await client.bf.exists('k', 'a'), await client.bf.exists('k', 'z')],
                   [true, false]);
  assert.deepEqual(await client.bf.mExists('k', ['a', 'z']), [true, false]);
  // Words that the client does not know are sent by name; it reads what comes of them.
  await client.sendCommand(['BF.RESERVE', 'own', '0.01', '100', 'LAYOUT', 'NATIVE', 'KEYED']);
  assert.deepEqual([await client.bf.add('own', 'a'), await client.bf.exists('own', 'a')],
                   [true, true]);
  if ((await client.configGet('bf.layout'))['bf.layout'] === 'native') {
    await client.sendCommand(['BF.INSERT', 'own 2', 'KEYED', 'ITEMS', 'a', 'b']);
    assert.deepEqual(await client.bf.insert('own 2', ['a', 'c']), [false, true]);
  }
  await client.bf.mAdd('grows', items);
  const info = await client.bf.info('grows');
  assert.equal(Number(info['Expansion rate']), 4);
  assert.equal(Number(info['Number of items inserted']), await client.bf.card('grows'));
  for (let iterator = 0;;) {
    const dump = await client.bf.scanDump('grows', iterator);
    iterator = dump.iterator;
    if (iterator === 0) break;
    assert.ok(dump.chunk.length > 0);
  }
  await client.close();
}
console.log('every command of node-redis');
