# The same bits on other CPUs: aarch64 and s390x, by cross compilers and qemu-user.
cross_phases() { :; }
