# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# A real slurmctld reads the output of "ibfattree slurm".

# Print the first of ten unused ports.  The kernel gives ports from 32768 on to clients.
slurm_ports() {
	local port
	for ((;;)); do
		port=$((10000 + RANDOM % 20000))
		! ss -Htan | grep -qE ":$((port / 10))[0-9] " || continue
		echo "$((port / 10 * 10))"
		return
	done
}

# slurm_start "NODES": start slurmctld, and a slurmd for each node of $T/topology.conf.  All of them
# run on this machine, without authentication, on the loopback interface.
slurm_start() {
	local port i=0 node
	port=$(slurm_ports)
	local -a nodes
	want slurmctld slurmd scontrol srun
	((EUID == 0)) || skip "several slurmd on one machine need root"
	read -ra nodes <<<"$1"
	export SLURM_CONF=$T/slurm.conf
	mkdir "$T/state" "$T/spool"
	cat >"$SLURM_CONF" <<-EOF
	ClusterName=test
	SlurmctldHost=localhost(127.0.0.1)
	SlurmctldPort=$port
	SlurmUser=root
	AuthType=auth/none
	CredType=cred/none
	StateSaveLocation=$T/state
	SlurmdSpoolDir=$T/spool/%n
	SlurmctldPidFile=$T/slurmctld.pid
	SlurmdPidFile=$T/slurmd-%n.pid
	SlurmctldLogFile=$T/slurmctld.log
	SlurmdLogFile=$T/slurmd-%n.log
	ProctrackType=proctrack/pgid
	TaskPlugin=task/none
	SwitchType=switch/none
	JobAcctGatherType=jobacct_gather/none
	SelectType=select/cons_tres
	SelectTypeParameters=CR_CPU
	TopologyPlugin=topology/tree
	MailProg=/bin/true
	ReturnToService=2
	SlurmdParameters=config_overrides
	EOF
	for node in "${nodes[@]}"; do
		echo "NodeName=$node NodeHostname=localhost NodeAddr=127.0.0.1 Port=$((port + ++i)) CPUs=1 State=UNKNOWN"
	done >>"$SLURM_CONF"
	echo "PartitionName=all Nodes=ALL Default=YES State=UP MaxTime=60" >>"$SLURM_CONF"
	pids=()
	trap slurm_stop EXIT
	slurmctld -D -c >"$T/slurmctld.out" 2>&1 &
	pids+=($!)
	until_true scontrol ping
	for node in "${nodes[@]}"; do
		slurmd -D -N "$node" >"$T/slurmd.$node.out" 2>&1 &
		pids+=($!)
	done
}

# A slurmd that gets SIGTERM waits for its running jobs, so SIGKILL follows.
slurm_stop() {
	kill "${pids[@]}" 2>/dev/null || true
	sleep 0.5
	kill -KILL "${pids[@]}" 2>/dev/null || true
	wait
}

slurm_idle() {
	[[ $(sinfo -h -t idle -o %D) == "$1" ]] ||
		{ sinfo -N -o '%N %T %E'; tail -n 5 "$T"/slurm*.log; return 1; }
}

case_slurm_tree() {
	local where
	"$ibfattree" gen "3;2,2,2;1,2,2;1,1,1" --random-guids -o "$T/f.net"
	"$ibfattree" slurm "$T/f.net" -o "$T/topology.conf"
	slurm_start "host-0 host-1 host-2 host-3 host-4 host-5 host-6 host-7"
	scontrol show topology >"$T/topology"
	grep -q '^SwitchName=sw-1-0 Level=0 .*Nodes=host-\[0-1\]' "$T/topology" ||
		fail "no leaf: $(cat "$T/topology")"
	[[ $(grep -c Level=1 "$T/topology") == 2 ]]
	grep -q 'Level=2 .*Nodes=host-\[0-7\]' "$T/topology" ||
		fail "the root does not contain all hosts: $(cat "$T/topology")"
	! grep -iE 'topolog|fatal' "$T/slurmctld.log" >&2 ||
		fail "slurmctld complains"
	# without one host of each other leaf, only the last leaf has two free hosts
	until_true slurm_idle 8
	scontrol update nodename=host-1,host-2,host-5 state=drain reason=test
	where=$(srun -N2 --switches=1 printenv SLURMD_NODENAME | sort | xargs)
	[[ $where == "host-6 host-7" ]] ||
		fail "placed on '$where', not on one leaf"
}

# In these real fabrics, some hosts have several ports, no name, or a name with a domain.  Every
# host must be on exactly one switch, and slurmctld must accept the file.
case_slurm_real() {
	local f t n
	want slurmctld scontrol
	printf 'ClusterName=test\nSlurmctldHost=localhost\n' >"$T/plain.conf"
	f=$(real topograph/topograph.net) || { echo "$f"; exit 77; }
	for t in topograph/topograph avakas/avakas plafrim/plafrim \
		plafrim2/plafrim2a; do
		f=$FTR_TOPOLOGIES/$t.net
		"$ibfattree" slurm "$f" -o "$T/topology.conf" 2>"$T/notes"
		mapfile -t n < <(sed -n 's/.* Nodes=//p' "$T/topology.conf" |
			SLURM_CONF=$T/plain.conf xargs -n 1 scontrol show hostnames)
		[[ ${#n[@]} == "$(printf '%s\n' "${n[@]}" | sort -u | wc -l)" ]] ||
			fail "$t: a host is on two switches"
		((${#n[@]} > 50)) || fail "$t: ${#n[@]} hosts only"
		mkdir "$T/${t##*/}"
		cp "$T/topology.conf" "$T/${t##*/}/"
		(T=$T/${t##*/} tree_read "${n[@]}")
	done
}

# slurm_read PLUGIN NODE...: let slurmctld read $T/topology.conf, or topology.yaml, with these
# nodes.  Store the topology that scontrol prints in $T/topology.
slurm_read() {
	local port plugin=$1 n
	port=$(slurm_ports)
	shift
	export SLURM_CONF=$T/slurm.conf
	mkdir "$T/state"
	cat >"$SLURM_CONF" <<-EOF
	ClusterName=test
	SlurmctldHost=localhost(127.0.0.1)
	SlurmctldPort=$port
	SlurmUser=$(id -un)
	AuthType=auth/none
	CredType=cred/none
	StateSaveLocation=$T/state
	SlurmctldPidFile=$T/slurmctld.pid
	SlurmctldLogFile=$T/slurmctld.log
	ProctrackType=proctrack/pgid
	TopologyPlugin=topology/$plugin
	MailProg=/bin/true
	PartitionName=all Nodes=ALL Default=YES State=UP
	${more:-}
	EOF
	for n; do
		echo "NodeName=$n NodeHostname=localhost NodeAddr=127.0.0.1 Port=$((++port)) State=UNKNOWN"
	done >>"$SLURM_CONF"
	slurmctld -D -c >"$T/slurmctld.out" 2>&1 &
	local pid=$!
	pids=("$pid")
	trap slurm_stop EXIT
	until_true scontrol ping
	scontrol show topology >"$T/topology"
	! grep -iE 'topolog|fatal' "$T/slurmctld.log" >&2 ||
		fail "slurmctld complains"
}

tree_read() {
	slurm_read tree "$@"
	[[ $(grep -c ^SwitchName "$T/topology.conf") == \
		"$(grep -c ^SwitchName "$T/topology")" ]] ||
		fail "slurmctld does not have all switches: $(cat "$T/slurmctld.log")"
}

# slurm_since RELEASE FEATURE: skip if slurmctld is older than this release (YY.MM).
slurm_since() {
	local is
	want slurmctld scontrol
	is=$(slurmctld -V | sed -n 's/.* \([0-9]*\.[0-9]*\)\..*/\1/p')
	[[ $(printf '%s\n' "$is" "$1" | sort -V | head -n 1) == "$1" ]] ||
		skip "slurmctld is $is: $2 since $1"
}

# Make a fabric with four pods of six hosts each.  For slurmctld these are four blocks.
block_fabric() {
	"$ibfattree" gen "3;2,3,4;1,2,3;1,1,1" --random-guids -o "$T/f.net"
	mapfile -t nodes < <(seq -f host-%g 0 23)
}

blocks_read() {
	local b
	[[ $(grep -c '^BlockName=' "$T/topology") == 4 ]] ||
		fail "not four blocks: $(cat "$T/topology" "$T/slurmctld.log")"
	for b in '\[0-5\]' '\[6-11\]' '\[12-17\]' '\[18-23\]'; do
		grep -q "Nodes=host-$b " "$T/topology" ||
			fail "no block of host-$b: $(cat "$T/topology")"
	done
}

case_slurm_block() {
	local -a nodes
	slurm_since 23.11 topology/block
	block_fabric
	"$ibfattree" slurm "$T/f.net" --plugin block -o "$T/topology.conf"
	slurm_read block "${nodes[@]}"
	blocks_read
}

case_slurm_yaml_tree() {
	local -a nodes
	slurm_since 25.05 topology.yaml
	block_fabric
	"$ibfattree" slurm "$T/f.net" --yaml -o "$T/topology.yaml"
	slurm_read tree "${nodes[@]}"
	[[ $(grep -c 'Level=0' "$T/topology") == 12 ]] ||
		fail "not 12 leaves: $(cat "$T/topology" "$T/slurmctld.log")"
}

# A dynamic node gets the place that "ibfattree nodes --path" prints.
case_slurm_dynamic() {
	local -a nodes
	local path more=MaxNodeCount=64		# allows nodes that are created later
	slurm_since 25.05 topology.yaml
	block_fabric
	unset 'nodes[13]'
	printf '%s\n' "${nodes[@]}" >"$T/hosts"
	"$ibfattree" slurm "$T/f.net" --yaml --hosts "$T/hosts" -o "$T/topology.yaml"
	"$ibfattree" slurm "$T/f.net" -o "$T/tree"
	path=$("$top/src/command/convert/ibfattree-nodes" --path host-13 "$T/tree")
	slurm_read tree "${nodes[@]}"
	[[ $(scontrol show topology | grep -c 'host-13') == 0 ]]
	scontrol create nodename=host-13 cpus=1 state=cloud "topology=ibfattree:$path"
	scontrol show topology >"$T/topology"
	grep "^SwitchName=${path##*:} Level=0" "$T/topology" | grep -q 'host-\[12-13\]' ||
		fail "host-13 is not on ${path##*:}: $(cat "$T/topology" "$T/slurmctld.log")"
	[[ $(grep -c 'Level=0' "$T/topology") == 12 ]]
}

case_slurm_yaml_block() {
	local -a nodes
	slurm_since 25.05 topology.yaml
	block_fabric
	"$ibfattree" slurm "$T/f.net" --yaml --plugin block \
		-o "$T/topology.yaml"
	slurm_read block "${nodes[@]}"
	blocks_read
}

# The topology must equal that of slurmibtopology for the same fabric: one switch for each leaf,
# with the hosts that ibnetdiscover shows on it.
case_slurm_like_ibnetdiscover() {
	local f
	f=$(real topograph/topograph.net) || { echo "$f"; exit 77; }
	want scontrol
	printf 'ClusterName=test\nSlurmctldHost=localhost\n' >"$T/plain.conf"
	awk '/^Switch/ { match($0, /# "[^"]*"/)
			sw = substr($0, RSTART + 3, RLENGTH - 4) }
		/^\[[0-9]+\]/ && $2 ~ /^"H-/ { match($0, /# "[^"]*"/)
			host = substr($0, RSTART + 3, RLENGTH - 4)
			sub(/ .*/, "", host); sub(/\..*/, "", host)
			if (!seen[sw, host]++)
				print host, sw }' "$f" | sort >"$T/wanted"
	"$ibfattree" slurm "$f" 2>/dev/null |
		sed -n 's/^SwitchName=\(.*\) Nodes=\(.*\)/\1 \2/p' |
		while read -r sw list; do
			SLURM_CONF=$T/plain.conf scontrol show hostnames "$list" |
				sed "s|\$| $sw|"
		done | sort >"$T/got"
	(($(wc -l <"$T/got") > 100)) || fail "only $(wc -l <"$T/got") hosts were found"
	# the names of switches differ: compare which hosts share a switch
	share() {
		awk '{ if (of[$2] == "") of[$2] = $1; print $1, of[$2] }' "$1" |
			sort
	}
	cut -d ' ' -f 1 "$T/got" >"$T/hosts"
	awk 'NR == FNR { here[$1] = 1; next } $1 in here' "$T/hosts" \
		"$T/wanted" | sort -k1,1 -u >"$T/there"
	diff <(share "$T/there") <(share "$T/got") >&2 ||
		fail "hosts are grouped in another way (< ibnetdiscover, > ibfattree)"
}

case_slurm_hosts() {
	local status=0
	"$ibfattree" gen "2;4,4;1,4;1,1" -o "$T/f.net"
	printf '%s\n' 'host-[0-3].example.org # a comment' 'host-77' >"$T/hosts"
	"$ibfattree" slurm "$T/f.net" --hosts "$T/hosts" >"$T/t" 2>"$T/err" ||
		status=$?
	[[ $status == 1 ]] || fail "exit status $status"
	[[ $(cat "$T/t") == "SwitchName=sw-1-0 Nodes=host-[0-3]" ]] ||
		fail "$(cat "$T/t")"
	grep -q 'not in the fabric: host host-77' "$T/err"
	grep -q 'not in .*: 12; they are left out' "$T/err"
}

case_slurm_forms() {
	"$ibfattree" gen "3;4,3,4;1,4,3;1,1,1" -o "$T/f.net"
	"$ibfattree" slurm "$T/f.net" --plugin block >"$T/block"
	[[ $(grep -c '^BlockName=pod-1-.* Nodes=host-\[' "$T/block") == 4 ]]
	grep -qx BlockSizes=12 "$T/block"
}

# from_yaml FILE: print the topology in FILE in the form of topology.conf.
from_yaml() {
	/usr/bin/python3 -c 'import yaml' 2>/dev/null ||
		skip "python3-yaml is not installed"
	/usr/bin/python3 "$here/topology.py" "$1"
}

# The YAML form is tested with a slurmctld of any release.  It is rewritten as topology.conf.  Then
# it must have the same switches, levels and nodes as the topology.conf that ibfattree writes.
# Every block must consist of the nodes below one of these switches.
case_slurm_yaml() {
	local f t n b
	want slurmctld scontrol
	printf 'ClusterName=test\nSlurmctldHost=localhost\n' >"$T/plain.conf"
	block_fabric
	t=$(real topograph/topograph.net) || t=
	for f in "$T/f.net" $t; do
		rm -rf "$T/conf" "$T/yaml"
		mkdir "$T/conf" "$T/yaml"
		"$ibfattree" slurm "$f" 2>/dev/null >"$T/conf/topology.conf"
		"$ibfattree" slurm "$f" --yaml 2>/dev/null >"$T/tree.yaml"
		from_yaml "$T/tree.yaml" >"$T/yaml/topology.conf"
		mapfile -t n < <(sed -n 's/.* Nodes=//p' "$T/conf/topology.conf" |
			SLURM_CONF=$T/plain.conf xargs -n 1 scontrol show hostnames)
		((${#n[@]} > 20)) || fail "$f: ${#n[@]} hosts only"
		(T=$T/conf tree_read "${n[@]}")
		(T=$T/yaml tree_read "${n[@]}")
		diff "$T/conf/topology" "$T/yaml/topology" >&2 ||
			fail "$f: the YAML form is another tree"
		"$ibfattree" slurm "$f" --plugin block >"$T/block" 2>/dev/null ||
			fail "$f: no blocks"
		"$ibfattree" slurm "$f" --yaml --plugin block >"$T/block.yaml" 2>/dev/null
		diff "$T/block" <(from_yaml "$T/block.yaml") >&2 ||
			fail "$f: the YAML form has other blocks"
		sed -n 's/.* Nodes=\([^ ]*\).*/\1/p' "$T/conf/topology" |
			while read -r b; do
				SLURM_CONF=$T/plain.conf scontrol show hostnames "$b" |
					sort | xargs
			done | sort -u >"$T/below"
		sed -n 's/.* Nodes=//p' "$T/block" | while read -r b; do
			SLURM_CONF=$T/plain.conf scontrol show hostnames "$b" |
				sort | xargs
		done >"$T/blocks"
		[[ -s $T/blocks && -z $(sort "$T/blocks" | uniq -d) ]]
		! grep -vxF -f "$T/below" "$T/blocks" >&2 ||
			fail "$f: a block is not below one switch"
		[[ $(xargs -n 1 <"$T/blocks" | sort | xargs) == \
			"$(printf '%s\n' "${n[@]}" | sort | xargs)" ]] ||
			fail "$f: the blocks do not contain every host exactly once"
	done
}
