# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# The launchers of Open MPI and MPICH read the output of "ibfattree ranks".  All hosts are this
# machine: instead of ssh, a program runs the command here, and passes the name of the host to it.

ranks_start() {
	cat >"$T/agent" <<-'EOF'
	#!/bin/bash
	while [[ $1 == -* ]]; do
		shift
	done
	export FTR_TEST_HOST=$1
	shift
	exec bash -c "$*"
	EOF
	chmod 755 "$T/agent"
	"$ibfattree" gen "2;3,3;1,3;1,1" --random-guids --seed 5 -o "$T/f.net"
	# the hosts of the job; "ibfattree ranks" must print them in the host order of the tables
	echo 'host-[0-8]' >"$T/hosts"
}

# Read lines "RANK HOST", and print the hosts in the order of their ranks.
ranks_of() { sort -n | sed 's/^[0-9]* //' | xargs; }

openmpi_run() {
	# shellcheck disable=SC2016
	timeout -k 10 120 mpirun.openmpi --allow-run-as-root --hostfile "$T/hostfile" \
		--mca plm_rsh_agent "$T/agent" \
		--mca plm_rsh_no_tree_spawn 1 \
		bash -c 'echo "$OMPI_COMM_WORLD_RANK $FTR_TEST_HOST"' >"$T/ranks"
}

case_ranks_openmpi() {
	local got wanted i
	want mpirun.openmpi
	ranks_start
	"$ibfattree" ranks "$T/f.net" --hosts "$T/hosts" >"$T/hostfile"
	wanted=$(sed 's/ .*//' "$T/hostfile" | xargs)
	[[ $wanted != "$(seq -f host-%g 0 8 | xargs)" ]] ||
		fail "dmodc orders the hosts by name, so this test would prove nothing"
	# on an overloaded machine the daemons of mpirun may lose the connection to mpirun, which
	# then never ends
	for i in 1 2 3; do
		openmpi_run && break
		((i < 3)) || fail "mpirun failed three times"
		echo "mpirun failed; trying again" >&2
	done
	got=$(ranks_of <"$T/ranks")
	[[ $got == "$wanted" ]] || fail "ranks on '$got', not '$wanted'"
}

case_ranks_mpich() {
	local got wanted
	want mpiexec.hydra
	ranks_start
	"$ibfattree" ranks "$T/f.net" --hosts "$T/hosts" --form mpich >"$T/hostfile"
	wanted=$(sed 's/:.*//' "$T/hostfile" | xargs)
	# shellcheck disable=SC2016
	got=$(timeout 900 mpiexec.hydra -f "$T/hostfile" -n 9 -launcher ssh \
		-launcher-exec "$T/agent" -iface lo \
		bash -c 'echo "$PMI_RANK $FTR_TEST_HOST"' | ranks_of)
	[[ $got == "$wanted" ]] || fail "ranks on '$got', not '$wanted'"
}

# worst_shift ORDER: print the maximum number of flows on a link in any shift.  Rank i runs on the
# host in line i of the file ORDER.
worst_shift() {
	local k i n max worst=0 host
	mapfile -t host <"$1"
	n=${#host[@]}
	for ((k = 1; k < n; k++)); do
		for ((i = 0; i < n; i++)); do
			echo "\"${host[i]}\" \"${host[(i + k) % n]}\""
		done >"$T/pairs"
		"$ibfattree" load "$T/f.net" --lfts "$T/f.lfts" --sample 1 \
			--permutations 0 --bisections 0 --patterns "$T/pairs" \
			--json >"$T/j"
		max=$("$build/jsonq" "$T/j" results.2.max)
		((max <= worst)) || worst=$max
	done
	echo "$worst"
}

# With the order of "ibfattree ranks" and one rank per host, no two flows of a shift share a link.
# With the order by name, some do.
case_ranks_shift() {
	local n
	"$ibfattree" gen "3;3,3,3;1,3,3;1,1,1" --random-guids --seed 5 -o "$T/f.net"
	"$ibfattree" route "$T/f.net" --engine dmodc -o "$T/f.lfts"
	"$ibfattree" ranks "$T/f.net" --form slurm >"$T/order"
	sort -V "$T/order" >"$T/by-name"
	n=$(wc -l <"$T/order")
	((n == 27)) || fail "$n hosts"
	n=$(worst_shift "$T/by-name")
	((n > 1)) || fail "no shift has two flows on a link in the order by name, either"
	n=$(worst_shift "$T/order")
	((n == 1)) || fail "a shift has $n flows on a link"
}

case_ranks_forms() {
	local status=0
	ranks_start
	printf 'host-0 slots=2\nhost-1:3\nhost-50\n' >"$T/hosts"
	"$ibfattree" ranks "$T/f.net" --hosts "$T/hosts" --form rankfile \
		>"$T/ranks" 2>"$T/err" || status=$?
	[[ $status == 1 ]]
	grep -q 'not in the fabric: host host-50' "$T/err"
	[[ $(grep -c '^rank [0-4]=host-[01] slot=[0-2]$' "$T/ranks") == 5 ]] ||
		fail "$(cat "$T/ranks")"
	[[ $("$ibfattree" ranks "$T/f.net" --slots 2 --form slurm | wc -l) == 18 ]]
}
