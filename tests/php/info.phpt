--TEST--
Reflection and phpinfo() know the extension
--FILE--
<?php
$e = new ReflectionExtension("bloomery");
echo implode(" ", $e->getClassNames()), "\n";
foreach ($e->getClasses() as $class)
    foreach ($class->getMethods() as $method)
        if (str_starts_with($method->class, "Bloomery\\") && $method->getName() !== "__construct" && !$method->hasReturnType()
            && !$method->hasTentativeReturnType() && !$class->isSubclassOf("Exception"))
            echo $method->class, "::", $method->getName(), " has no return type\n";
var_dump((string)(new ReflectionMethod("Bloomery\Filter", "addMany"))->getReturnType());
phpinfo(INFO_MODULES);
--EXPECTF--
Bloomery\Exception Bloomery\Filter Bloomery\CountingFilter Bloomery\ScalableFilter Bloomery\WindowFilter Bloomery\Legacy\BloomFilter Bloomery\Legacy\BloomFilterRedis
string(3) "int"
%A
Bloom filters (Bloomery) => enabled
Version of the extension => %d.%d.%d
Version of libbloomery => %d.%d.%d
Filters attached in this process => 0
%A
