--TEST--
Legacy\BloomFilterRedis speaks TLS where its configuration or its Redis object does
--FILE--
<?php
use Bloomery\Exception;
$place = getenv("CERTIFICATES");
$port = (int)getenv("REDIS_TLS_PORT");
class Comments extends Bloomery\Legacy\BloomFilterRedis {
    protected $bucket = 'rptc';
    protected $hashFunction = ['BKDRHash', 'SDBMHash', 'JSHash'];
}
function refused($config) {
    try { new Comments($config); } catch (Exception $e) { echo $e->getMessage(), "\n"; return; }
    echo "taken\n";
}
$ssl = ['cafile' => "$place/ca.pem", 'local_cert' => "$place/client.pem"];
$config = ['host' => 'tls://localhost', 'port' => $port, 'ssl' => $ssl, 'timeout' => 60];
$redis = new Redis;
$redis->connect('127.0.0.1', (int)getenv('REDIS_PORT'));
$redis->setBit('rptc', 4294967295, 0); // half a gigabyte of zeros, for which a busy server may need longer than we wait
$comments = new Comments($config);
var_dump(in_array(0, $comments->add('First!')), $comments->exists('First!'));
$key = ['local_pk' => "$place/client.key"];
var_dump((new Comments(['host' => 'ssl://localhost', 'ssl' => $ssl + $key] + $config))->exists('First!'));
// The certificate is not for this name; nobody vouches for it; the server wants one too.
refused(['host' => 'tls://127.0.0.1'] + $config);
var_dump((new Comments(['host' => 'tls://127.0.0.1', 'ssl' => $ssl + ['peer_name' => 'localhost']] + $config))->exists('First!'));
var_dump((new Comments(['host' => 'tls://127.0.0.1', 'ssl' => $ssl + ['verify_peer' => false]] + $config))->exists('First!'));
refused(['ssl' => ['local_cert' => "$place/client.pem"]] + $config);
refused(['ssl' => ['cafile' => "$place/ca.pem"]] + $config);
refused(['ssl' => $ssl + ['verify_peer' => true, 'ciphers' => 'DES']] + $config);
refused(['ssl' => $ssl, 'host' => 'localhost'] + $config);
refused(['ssl' => 'yes'] + $config);
// A Redis object tells its host, and not what it trusts: its authority must be one of the system's.
$redis = new Redis;
$redis->connect('tls://localhost', $port, 5, null, 0, 0, ['stream' => $ssl]);
refused($redis);
$plain = new Redis;
$plain->connect('127.0.0.1', (int)getenv("REDIS_PORT"));
$plain->config('SET', 'tls-auth-clients', 'optional');
putenv("SSL_CERT_FILE=$place/ca.pem");
var_dump((new Comments($redis))->exists('First!'), $plain->bitCount('rptc'));
?>
--EXPECTREGEX--
bool\(true\)
bool\(true\)
bool\(true\)
redis 127.0.0.1:\d+: the server's certificate is not accepted: IP address mismatch; .*
bool\(true\)
bool\(true\)
redis localhost:\d+: the server's certificate is not accepted: self-signed certificate in certificate chain; .*
redis localhost:\d+: the server refuses this client: .*
the ssl option 'ciphers' is not known; those that are: cafile, local_cert, local_pk, peer_name, verify_peer
ssl is an array of context options, for a host that begins with tls:\/\/
ssl is an array of context options, for a host that begins with tls:\/\/
redis localhost:\d+: the server's certificate is not accepted: self-signed certificate in certificate chain; .*
bool\(true\)
int\(3\)
