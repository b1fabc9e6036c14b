// A user's first program: it knows the installed headers and nothing else.
#include <bloomery/bloomery.hpp>

#include <cstdio>
#include <string>

int main() {
  bloomery::Filter seen(1000, 0.001);
  for (int i = 0; i < 1000; ++i) seen.insert("key " + std::to_string(i));
  for (int i = 0; i < 1000; ++i)
    if (!seen.may_contain("key " + std::to_string(i))) return 1;
  std::printf("bloomery %s: 1000 keys in, 1000 keys found\n", BLOOMERY_VERSION);
}
