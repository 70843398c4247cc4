# A SLURM of one's own on this machine: a controller and two nodes on loopback. To be sourced; needs `slurm-wlm` and `munge` of Debian, and root.
#
#   cluster_start DIR     starts it, its files in DIR, and sets SLURM_CONF for the commands of SLURM
#   cluster_node DIR NODE starts a node
#   cluster_stop DIR      ends what was started, by the process numbers that were written down

cluster_start() {
    local dir=$1 host tries
    host=$(hostname -s)
    mkdir -p "$dir/state" "$dir/munge"
    chmod 711 "$dir" && chmod 711 "$dir/munge"
    dd if=/dev/urandom of="$dir/munge/key" bs=1024 count=1 status=none
    chmod 400 "$dir/munge/key"
    cat > "$dir/slurm.conf" <<CONF
ClusterName=fleet
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
CredType=cred/munge
SlurmctldPort=17817
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool.%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.%n.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
KillWait=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=17818 CPUs=1
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=17819 CPUs=1
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    export SLURM_CONF="$dir/slurm.conf"
    munged --force --foreground --key-file="$dir/munge/key" --socket="$dir/munge/socket" --pid-file="$dir/munge/pid" \
        --seed-file="$dir/munge/seed" --log-file="$dir/munge/log" 2> "$dir/munge/out" &
    echo $! >> "$dir/started"
    sleep 1
    slurmctld -D > "$dir/slurmctld.out" 2>&1 &
    echo $! >> "$dir/started"
    cluster_node "$dir" n1
    cluster_node "$dir" n2
    tries=0
    until [ "$(sinfo -h -N -o %T 2>/dev/null | grep -c idle)" = 2 ]; do
        tries=$((tries + 1))
        [ $tries -lt 60 ] || { echo "the nodes do not come up" >&2; return 1; }
        sleep 1
    done
}

cluster_node() {
    mkdir -p "$1/spool.$2"
    slurmd -D -N "$2" > "$1/slurmd.$2.out" 2>&1 &
    echo $! >> "$1/started"
    echo $! > "$1/node.$2"
}

cluster_stop() {
    while read -r process; do
        kill "$process" 2>/dev/null || true
    done < "$1/started"
}
