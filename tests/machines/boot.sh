#!/bin/sh
# The first process of a server, in namespaces of its own. It lays out the file system and the
# network, and becomes systemd. Nothing that it mounts is seen outside, and all of it ends with it.
set -eu
image=$1 folder=$2 address=$3 gateway=$4

until ip link show eth0 > /dev/null 2>&1; do sleep 0.01; done
ip link set lo up
ip address add "$address/16" dev eth0
ip link set eth0 up
ip route add default via "$gateway"

mount -t overlay overlay \
  -o "lowerdir=$image,upperdir=$folder/upper,workdir=$folder/work" "$folder/root"
cd "$folder/root"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
for each in null zero full random urandom tty kmsg; do
  touch "dev/$each"
  mount --bind "/dev/$each" "dev/$each"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s fd/0 dev/stdin
ln -s fd/1 dev/stdout
ln -s fd/2 dev/stderr

# An overlay can't lie on an overlay, and containerd makes some.
for each in containerd kubelet; do
  mkdir -p "$folder/data/$each" "var/lib/$each"
  mount --bind "$folder/data/$each" "var/lib/$each"
done

# Of the kernel's settings only those of its network are the server's own. The kubelet and Debian
# write a few others: files take their place, or they would change this machine.
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount --bind proc/sys/net proc/sys/net
mount -o remount,bind,rw proc/sys/net
mkdir -p "$folder/settings"
while read -r setting value; do
  [ -e "proc/sys/$setting" ] || continue
  own=$folder/settings/$(echo "$setting" | tr / .)
  echo "$value" > "$own"
  mount --bind "$own" "proc/sys/$setting"
done << END
vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000
kernel/core_pattern core
kernel/pid_max 4194304
END
mount --bind "$folder/meminfo" proc/meminfo
if [ -d sys/devices/virtual/dmi/id ]; then
  mount --bind "$folder/dmi" sys/devices/virtual/dmi/id
fi

mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup
while read -r type options name; do
  mkdir -p "sys/fs/cgroup/$name"
  mount -t "$type" -o "$options" "$type" "sys/fs/cgroup/$name"
done < "$folder/cgroups"

mkdir -p .old
pivot_root . .old
cd /
umount -l /.old
# runc expects what systemd sets up on a machine.
mount --make-rshared /
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
  /lib/systemd/systemd --system
