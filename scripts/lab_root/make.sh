# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# The recipe of the lab root, sourced by scripts/lab-root, which owns the cache,
# the lock and the mirror. Three stages side by side (the system, and for each
# kernel an unconfigured folder in which its erdma.ko is built), then a merge.
# Expects: $recipe, $work (temporary folder), $hash, $mirror (or nothing), ${apt_options[@]},
# say, die.
# shellcheck disable=SC2154

suite=trixie
qemu_min=10.1

# Options that hold for every mmdebstrap run.
bootstrap() { # VARIANT EXTRA-SUITE TARGET [OPTION...]
	local variant=$1 extra=$2 target=$3 tries
	shift 3
	# The extra suite comes from wherever mmdebstrap takes the first one.
	[ "$extra" = "$suite" ] ||
		set -- "--setup-hook=sed -i 's/^\(deb .*\) $suite main\$/&\\n\\1 $extra main/' \"\$1/etc/apt/sources.list\"" "$@"
	for tries in 2 1; do
		rm -rf "$target"
		mmdebstrap --mode=root --format=directory --variant="$variant" \
			--aptopt='Apt::Install-Recommends "false"' \
			--aptopt='Acquire::Retries "5"' --aptopt='Acquire::Languages "none"' \
			"${apt_options[@]}" "$@" "$suite" "$target" ${mirror:+"$mirror"} && return
		[ $tries = 1 ] || { echo "I: failed, trying again"; sleep 5; }
	done
	return 1
}

# Take the packages named by a glob from backports, all others from the stable suite.
pin() { # FILE GLOB SUITE
	printf 'Package: %s\nPin: release n=%s\nPin-Priority: 700\n' "$2" "$3" >"$1"
}

# shellcheck disable=SC2016 # mmdebstrap's shell expands $1
pin_hook() { # FILE -> the mmdebstrap option that installs it
	printf -- '--setup-hook=install -D -m 644 "%s" "$1/etc/apt/preferences.d/lab"' "$1"
}

package_list() {
	sed -e 's/[[:space:]]*#.*//' -e '/^$/d' "$recipe/packages.txt" | paste -sd,
}

stage_system() {
	pin "$work/system.pin" 'qemu-* ipxe-qemu seabios' "$suite-backports"
	bootstrap minbase "$suite-backports" "$work/root" \
		"$(pin_hook "$work/system.pin")" \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-include=/usr/share/doc/rdma-core' \
		--dpkgopt='path-include=/usr/share/doc/rdma-core/tests*' \
		--include="$(package_list)"
}

# Extracted, never configured: nothing of it runs but the compiler.
stage_kernel() { # KEY SUITE
	local key=$1 from=$2 root=$work/kernel-$1
	pin "$work/kernel-$key.pin" 'linux-*' "$from"
	bootstrap extract "$from" "$root" "$(pin_hook "$work/kernel-$key.pin")" \
		--include='?essential' --include=make,mawk,tiny-initramfs \
		--include=linux-image-amd64,linux-headers-amd64,linux-source || return
	erdma_build "$key" "$root"
}

kernel_release() { # ROOT
	local modules
	modules=$(echo "$1"/usr/lib/modules/*/kernel)
	[ -d "$modules" ] || { echo "E: not one kernel in $1" >&2; return 1; }
	basename "${modules%/kernel}"
}

# The package's version, as the image itself tells it: "... Debian 6.12.1-1 (2025-01-01)".
kernel_version() { # IMAGE
	python3 - "$1" <<-'PYTHON'
	import re, struct, sys
	head = open(sys.argv[1], "rb").read(65536)
	start = struct.unpack_from("<H", head, 0x20E)[0] + 0x200
	text = head[start:head.index(b"\0", start)].decode()
	print(re.search(r"Debian (\S+)", text).group(1))
	PYTHON
}

# The ELF image inside: QEMU starts it directly (PVH), and no guest has to unpack it.
image_unpack() { # IMAGE TARGET
	python3 - "$@" <<-'PYTHON'
	import struct, subprocess, sys
	image = open(sys.argv[1], "rb").read()
	offset, length = struct.unpack_from("<II", image, 0x248)  # boot protocol 2.08
	start = 512 * (1 + (image[0x1F1] or 4)) + offset
	packed = image[start:start + length - 4]  # the last 4 bytes are the unpacked size
	tools = {b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zX": "xz", b"\x1f\x8b\x08\x00": "gzip"}
	tool = tools.get(packed[:4]) or sys.exit(f"{sys.argv[1]}: packed in an unknown way")
	elf = subprocess.run([tool, "-dc"], input=packed, stdout=subprocess.PIPE, check=True).stdout
	if elf[:4] != b"\x7fELF":
	    sys.exit(f"{sys.argv[1]}: no ELF image inside")
	open(sys.argv[2], "wb").write(elf)
	PYTHON
}

# The unmodified driver of the kernel's own source, which no Debian kernel enables.
erdma_build() { # KEY ROOT
	local key=$1 root=$2 release source options=
	release=$(kernel_release "$root") || return
	source=$(echo "$root"/usr/src/linux-source-*.tar.xz)
	[ -f "$source" ] || { echo "E: no kernel source in stage $key"; return 1; }
	echo "I: building erdma.ko for $release"
	source_extract "$source" drivers/infiniband/hw/erdma "$root/erdma"
	ln -sf mawk "$root/usr/bin/awk" # an alternative, so made by configuration only
	# 6.12 asks for the BTF of vmlinux, which is not in the headers package.
	[ -e "$root/usr/src/linux-headers-$release/vmlinux" ] || options=CONFIG_DEBUG_INFO_BTF_MODULES=
	module_make "$root" erdma "$release" "$options" || return
	# Beside it, for user datagrams: see the script.
	grep -q create_ah "$root/erdma/erdma_main.c" || return 0
	mkdir "$root/erdma-user-ah"
	cp "$root"/erdma/*.[ch] "$root/erdma/Makefile" "$root/erdma-user-ah/"
	rm -f "$root"/erdma-user-ah/*.mod.c
	sed -i -f "$recipe/erdma-user-ah.sed" "$root"/erdma-user-ah/*.c
	module_make "$root" erdma-user-ah "$release" "$options"
}

module_make() { # ROOT FOLDER RELEASE OPTIONS
	# The mounts end with their namespace, so removing the root can never reach through them.
	# shellcheck disable=SC2016
	unshare --mount sh -ec '
		mount --bind /dev "$1/dev"
		mount --bind /proc "$1/proc"
		exec chroot "$1" make -C "/lib/modules/$3/build" M="/$2" -j2 \
			CONFIG_INFINIBAND_ERDMA=m $4 modules' sh "$@"
}

# Part of a source archive. It is read no further than needed: it is 1.5 GB unpacked.
source_extract() { # ARCHIVE FOLDER TARGET
	python3 - "$@" <<-'PYTHON'
	import os, sys, tarfile
	archive, folder, target = sys.argv[1:]
	os.makedirs(target)
	found = False
	with tarfile.open(archive, "r|xz") as tar:
	    for member in tar:
	        path = member.name.partition("/")[2]
	        if path.startswith(folder + "/") and member.isfile():
	            found = True
	            with open(os.path.join(target, os.path.basename(path)), "wb") as out:
	                out.write(tar.extractfile(member).read())
	        elif found and not path.startswith(folder):
	            break
	sys.exit(not found)
	PYTHON
}

# Kernel image and modules into the root; modules unpacked, since guests are slow at that.
kernel_merge() { # KEY
	local key=$1 from=$work/kernel-$1 root=$work/root release modules image dropped version
	release=$(kernel_release "$from") || return
	[ "$(printf '%s\n' "$key" "$release" | sort -V | head -1)" = "$key" ] ||
		die "the mirror's kernel for key $key is $release: too old"
	modules=$from/usr/lib/modules/$release
	mkdir -p "$root/boot"
	# From 7.3 on the image is among the modules.
	image=$from/boot/vmlinuz-$release
	[ -e "$image" ] || image=$modules/vmlinuz
	version=$(kernel_version "$image") || return
	image_unpack "$image" "$root/boot/vmlinux-$release"
	rm -f "$modules/build" "$modules/source"
	while read -r dropped; do
		rm -rf "${modules:?}/kernel/$dropped"
	done < <(sed '/^#/d' "$recipe/modules-dropped.txt")
	find "$modules/kernel" -name '*.ko.xz' -print0 | xargs -0 -r -P2 -n64 xz -dq
	install -D -m 644 "$from/erdma/erdma.ko" "$modules/updates/erdma.ko"
	strip --strip-debug "$modules/updates/erdma.ko"
	if [ -e "$from/erdma-user-ah/erdma.ko" ]; then
		install -D -m 644 "$from/erdma-user-ah/erdma.ko" \
			"$root/usr/share/anynic-lab/$release/erdma-user-ah.ko"
		strip --strip-debug "$root/usr/share/anynic-lab/$release/erdma-user-ah.ko"
	fi
	mkdir -p "$root/usr/lib/modules"
	mv "$modules" "$root/usr/lib/modules/"
	chroot "$root" depmod "$release"
	printf '    "%s": {"release": "%s", "package": "%s"}' "$key" "$release" \
		"$version"
}

# What no guest and no QEMU needs, then the folders that the lab mounts on.
root_finish() {
	local root=$work/root tests=$work/root/usr/share/anynic-lab/pyverbs-tests
	mkdir -p "$tests"
	cp -r "$root/usr/share/doc/rdma-core/tests/." "$tests/"
	find "$tests" -name '*.gz' -exec gunzip -f {} +
	ln -s pyverbs-tests "$root/usr/share/anynic-lab/tests" # the package's name in its imports
	rm -rf "$root"/usr/share/doc "$root"/var/cache/apt "$root"/var/lib/apt/lists \
		"$root"/var/cache/debconf "$root"/usr/share/{bug,lintian,info} "$root"/usr/include
	mkdir -p "$root/var/cache/apt/archives/partial" "$root/var/lib/apt/lists/partial" \
		"$root/anynic" "$root/run-dir"
	rm -f "$root/etc/resolv.conf" "$root/etc/hostname"
	printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
}

# shellcheck disable=SC2016 # ${Version} is dpkg's
qemu_check() {
	local root=$work/root version
	version=$(chroot "$root" dpkg-query -W -f '${Version}' qemu-system-x86)
	version=${version#*:}
	[ "$(printf '%s\n' "$qemu_min" "$version" | sort -V | head -1)" = "$qemu_min" ] ||
		die "the mirror's QEMU is $version: at least $qemu_min is needed"
	chroot "$root" qemu-system-x86_64 -device help 2>/dev/null | grep -q '"vfio-user-pci"' ||
		die "QEMU $version has no vfio-user-pci device"
}

# shellcheck disable=SC2016 # ${Package} is dpkg's
manifest_write() { # KERNEL-ROWS
	local root=$work/root
	{
		printf '{\n  "recipe": "%s",\n  "kernels": {\n%s\n  },\n  "packages": {\n' "$hash" "$1"
		chroot "$root" dpkg-query -W -f '    "${Package}": "${Version}",\n' | sed '$s/,$//'
		printf '  }\n}\n'
	} >"$root/usr/share/anynic-lab/manifest.json"
	python3 -m json.tool "$root/usr/share/anynic-lab/manifest.json" >/dev/null
}

# Each stage has a log; its milestones are shown as they come.
stage_run() { # NAME COMMAND...
	local name=$1
	shift
	"$@" 2>&1 | tee "$work/$name.log" |
		sed -un "/^I: \(running apt\|downl\|extr\|inst\|build\|fail\)/s/^I:/$name:/p" |
		while read -r line; do say "$line"; done
	[ "${PIPESTATUS[0]}" = 0 ] && return
	tail -n 15 "$work/$name.log" >&2
	say "$name: failed"
	return 1
}

root_make() {
	local key from pids=() pid failed=0 rows=
	stage_run system stage_system & pids+=($!)
	while read -r key from; do
		stage_run "kernel $key" stage_kernel "$key" "$from" & pids+=($!)
	done < <(sed '/^#/d' "$recipe/kernels.txt")
	for pid in "${pids[@]}"; do
		wait "$pid" || failed=1
	done
	[ $failed = 0 ] || return 1
	say "merging, and checking QEMU"
	qemu_check
	root_finish
	while read -r key from; do
		rows+=${rows:+$',\n'}$(kernel_merge "$key") || return 1
	done < <(sed '/^#/d' "$recipe/kernels.txt")
	manifest_write "$rows"
}
