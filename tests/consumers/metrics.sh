# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# promtool reads the metrics, the alerts and the expressions of the dashboard.

monitoring=$top/src/plugin/osm/monitoring

# The metrics that the plugin writes before and after a link failure are valid.
case_metrics_promtool() {
	want promtool opensm ibsim
	FTR_PROMTOOL=1 "$top/tests/sim/run" --build "$build" status_files >&2
}

case_metrics_alerts() {
	want promtool
	promtool check rules "$monitoring/ibfattree.rules.yml"
	cat >"$T/test.yml" <<-EOF
	rule_files: ["$monitoring/ibfattree.rules.yml"]
	evaluation_interval: 1m
	tests:
	  - interval: 1m
	    input_series:
	      - series: ibfattree_sm_master{instance="a"}
	        values: 1x60
	      - series: ibfattree_sm_master{instance="standby"}
	        values: 0x60
	      - series: ibfattree_routes{instance="a"}
	        values: 1x10 0x50
	      - series: ibfattree_routes{instance="standby"}
	        values: 0x60
	      - series: ibfattree_missing_links{instance="a"}
	        values: 0x20 3x40
	      - series: ibfattree_failed_writes_total{instance="a"}
	        values: 0x30 2x30
	    alert_rule_test:
	      - alertname: IbfattreeNotRouting
	        eval_time: 9m
	      - alertname: IbfattreeNotRouting
	        eval_time: 15m
	        exp_alerts:
	          - exp_labels: {severity: critical, instance: a}
	            exp_annotations:
	              summary: OpenSM on a does not route by ibfattree
	              description: Another engine routes, or none. Look for IBF210 and IBF211 in OpenSM's log; ibfattree(7) lists causes and remedies.
	      - alertname: IbfattreeLinksMissing
	        eval_time: 30m
	      - alertname: IbfattreeLinksMissing
	        eval_time: 40m
	        exp_alerts:
	          - exp_labels: {severity: warning, instance: a}
	            exp_annotations:
	              summary: 3 links of the nominal fabric are missing
	              description: ibfattree report --nominal FILE shows them; FILE is the state file ibfattree-state-PORTGUID.
	      - alertname: IbfattreeWritesFailed
	        eval_time: 35m
	        exp_alerts:
	          - exp_labels: {severity: warning, instance: a}
	            exp_annotations:
	              summary: A switch did not acknowledge part of a repair
	              description: The next sweep writes it again. IBF110 in OpenSM's log names the repair.
	EOF
	promtool test rules "$T/test.yml"
}

# The plugin writes every metric that an alert or a panel uses.
case_metrics_names() {
	local name known
	want python3
	known=$(sed -n 's/^.*ROW("\([a-z_]*\)".*/\1/p; s/.*head(out, "\([a-z_]*\)".*/\1/p; s/.*put_phases(out, "\([a-z_]*\)".*/\1/p' \
		"$top/src/plugin/osm/metrics.c")
	[[ $(wc -w <<<"$known") -gt 25 ]] || fail "few names found: $known"
	/usr/bin/python3 - "$monitoring/ibfattree-dashboard.json" >"$T/exprs" <<-EOF
	import json, sys
	d = json.load(open(sys.argv[1]))
	assert d["title"] and d["schemaVersion"] >= 30 and d["panels"]
	ids = [p["id"] for p in d["panels"]]
	assert len(ids) == len(set(ids))
	fields = {"id", "type", "title", "description", "datasource", "gridPos",
	          "fieldConfig", "options", "targets"}
	taken = set()
	for p in d["panels"]:
	    assert set(p) == fields and p["type"] in ("stat", "timeseries"), p
	    assert set(p["fieldConfig"]) == {"defaults", "overrides"}, p
	    g = p["gridPos"]
	    assert set(g) == {"x", "y", "w", "h"} and g["x"] + g["w"] <= 24, p
	    cells = {(x, y) for x in range(g["x"], g["x"] + g["w"])
	             for y in range(g["y"], g["y"] + g["h"])}
	    assert not cells & taken, f"panel {p['title']} covers another one"
	    taken |= cells
	    assert p["targets"] and p["title"]
	    for t in p["targets"]:
	        assert set(t) == {"refId", "expr", "legendFormat", "datasource"}, t
	        print(t["expr"])
	EOF
	grep '^ *expr:' "$monitoring/ibfattree.rules.yml" >>"$T/exprs"
	while read -r name; do
		grep -qx "$name" <<<"$known" || fail "the plugin does not write ibfattree_$name"
	done < <(grep -o 'ibfattree_[a-z_]*' "$T/exprs" | sed 's/^ibfattree_//' | sort -u)
	want promtool
	# promtool checks the syntax of rules, so each expression becomes a rule
	# shellcheck disable=SC2016
	{
		echo 'groups: [{name: panels, rules: ['
		sed -n '/^ *expr:/d; s/"\$instance"/".*"/; s/\[\$__rate_interval\]/[5m]/; s/.*/{record: x, expr: '"'&'"'},/p' "$T/exprs"
		echo ']}]'
	} >"$T/panels.yml"
	promtool check rules "$T/panels.yml"
}

# The dashboard conforms to the types that Grafana publishes.
case_metrics_dashboard() {
	want npm node python3
	mkdir "$T/npm"
	npm install --prefix "$T/npm" --no-save --no-package-lock \
		--ignore-scripts --no-fund --no-audit \
		@grafana/grafana-foundation-sdk@0.0.21 typescript@5.4.5 >"$T/log" 2>&1 ||
		skip "npm cannot install Grafana's types: $(tail -n 1 "$T/log")"
	/usr/bin/python3 "$here/dashboard.py" "$T/npm" \
		"$monitoring/ibfattree-dashboard.json"
}
