// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A platform of SimGrid with the routes of forwarding tables.
 *
 * ibfattree-smpi passes this library to smpirun, which calls load_platform.  Every host port
 * becomes a host of SimGrid, named "lid-N" after its base LID.  Every direction of a link becomes a
 * link of SimGrid.  The one zone, `fabric_zone`, finds the route between two hosts when SimGrid
 * asks for it, by following the tables.  So no routes are stored, and real tables need no
 * conversion.
 *
 * Parameters are environment variables, because smpirun passes no arguments to a platform:
 *
 *	IBFATTREE_FABRIC, IBFATTREE_LFTS	names of the files
 *	IBFATTREE_LATENCY			time of a message without data, in seconds
 *	IBFATTREE_RATE				Gbit/s of links whose rate is unknown; 0: not given
 *	IBFATTREE_HOSTS				name of the file with the hosts of the ranks
 *
 * Every route has the same latency: SimGrid's model of TCP lets flows with a shorter round-trip
 * time have more bandwidth, which an InfiniBand link does not do.  Messages between ports of the
 * same node use no link.
 *
 * NetZoneImpl is an internal interface of SimGrid, so configure accepts only one minor version.
 */
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>

#include <ftr/ftr.h>

extern "C" const ftr_unpacker cli_unpacker;	/* of src/command/cli/unpack.c: gzip and xz */
extern "C" void load_platform(const simgrid::s4u::Engine& engine);

namespace {

using simgrid::kernel::resource::StandardLinkImpl;
using simgrid::kernel::routing::NetPoint;
using simgrid::kernel::routing::Route;

/* End the simulation.  An exception would be caught and reported by SimGrid as an internal
 * error. */
[[noreturn]] void die(const std::string& message)
{
	fflush(stdout);
	fprintf(stderr, "ibfattree-smpi: %s\n", message.c_str());
	_Exit(2);
}

const char* environment(const char* name)
{
	const char* value = getenv(name);

	if (!value)
		die(std::string(name) + " is not set; run ibfattree-smpi");
	return value;
}

void must(ftr_status st, const ftr_err& err)
{
	if (st != FTR_OK)
		die(err.msg);
}

std::string hex(uint64_t guid)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	return text;
}

class fabric_zone : public simgrid::kernel::routing::NetZoneImpl {
	ftr_fabric* f_ = nullptr;
	ftr_tables* t_ = nullptr;
	double latency_;
	std::vector<uint32_t> node_;		/* [n_ep] number of the node */
	std::vector<ftr_ep> ep_;		/* host port of each NetPoint */
	std::vector<StandardLinkImpl*> out_;	/* [n_ports] link that leaves a switch port */
	std::vector<StandardLinkImpl*> in_;	/* [n_ep] link that leaves a host port */

	StandardLinkImpl* make(const std::string& name, ftr_sw s, unsigned int port, double gbps)
	{
		const ftr_swport* p = ftr_fabric_port(f_, s, port);
		double rate = ftr_sim_mbps(p->width, static_cast<ftr_speed>(p->speed)) * 1e6;

		if (rate == 0)
			rate = gbps * 1e9;
		if (rate == 0)
			die("switch " + hex(f_->sw[s].guid) + " port " + std::to_string(port) +
			    ": the rate of the link is unknown; give --rate");
		simgrid::s4u::Link* link = create_link(name, std::vector<double>{rate / 8});

		link->set_sharing_policy(simgrid::s4u::Link::SharingPolicy::SHARED)->seal();
		return link->get_impl();
	}

	void make_links(double gbps)
	{
		out_.resize(f_->n_ports);
		in_.resize(f_->n_ep);
		for (ftr_sw s = 0; s < f_->n_sw; s++)
			for (unsigned int p = 1; p <= f_->sw[s].n_ports; p++)
				if (ftr_fabric_port(f_, s, p)->peer_kind != FTR_PEER_NONE)
					out_[f_->sw[s].first_port + p] =
						make(hex(f_->sw[s].guid) + "[" + std::to_string(p) + "]",
						     s, p, gbps);
		for (ftr_ep e = 0; e < f_->n_ep; e++)
			if (f_->ep[e].sw != FTR_SW_NONE)
				in_[e] = make(hex(f_->ep[e].guid), f_->ep[e].sw, f_->ep[e].sw_port,
					      gbps);
	}

	/* The adapters of a node are different channel adapters; their names tell that they belong
	 * together. */
	void find_nodes()
	{
		ftr_hosts* h = nullptr;
		ftr_err err;

		must(ftr_hosts_new(f_, false, &h, &err), err);
		for (ftr_ep e = 0; e < f_->n_ep; e++)	/* a port without a name is a node */
			node_.push_back(h->n + e);
		for (uint32_t i = 0; i < h->n; i++)
			for (uint32_t k = 0; k < h->host[i].n; k++)
				node_[h->ep[h->host[i].first + k]] = i;
		ftr_hosts_free(h);
	}

	void make_hosts()
	{
		for (ftr_ep e = 0; e < f_->n_ep; e++) {
			if (!f_->ep[e].lid || f_->ep[e].sw == FTR_SW_NONE)
				continue;
			NetPoint* point = create_host("lid-" + std::to_string(f_->ep[e].lid), {1e9})
						  ->seal()->get_netpoint();

			if (ep_.size() <= point->id())
				ep_.resize(point->id() + 1);
			ep_[point->id()] = e;
		}
	}

public:
	fabric_zone() : NetZoneImpl("fabric"), latency_(atof(environment("IBFATTREE_LATENCY")))
	{
		ftr_err err;

		must(ftr_read_fabric(environment("IBFATTREE_FABRIC"), 0, &f_, &err), err);
		must(ftr_read_lfts(environment("IBFATTREE_LFTS"), f_, &t_, nullptr, &err), err);
		find_nodes();
		make_links(atof(environment("IBFATTREE_RATE")));
	}

	void fill()
	{
		std::ifstream hosts(environment("IBFATTREE_HOSTS"));

		make_hosts();
		for (std::string name; std::getline(hosts, name);)
			if (!simgrid::s4u::Host::by_name_or_null(name))
				die(std::string(environment("IBFATTREE_FABRIC")) +
				    ": no host port with a link has the LID " + name.substr(4));
	}

	void get_local_route(const NetPoint* src, const NetPoint* dst, Route* into,
			     double* latency) override
	{
		const ftr_endport& from = f_->ep[ep_[src->id()]];
		const ftr_endport& to = f_->ep[ep_[dst->id()]];
		std::vector<uint32_t> port(f_->n_sw);
		uint32_t n;

		*latency += latency_;
		if (node_[ep_[src->id()]] == node_[ep_[dst->id()]])
			return;
		n = ftr_tables_path(f_, t_, from.sw, to.lid, port.data());
		if (n == FTR_NO_PATH)
			die(std::string(environment("IBFATTREE_LFTS")) + ": no path from LID " +
			    std::to_string(from.lid) + " (\"" + from.name + "\") to LID " +
			    std::to_string(to.lid) + " (\"" + to.name + "\")");
		into->link_list_.push_back(in_[ep_[src->id()]]);
		for (uint32_t i = 0; i < n; i++)
			into->link_list_.push_back(out_[port[i]]);
	}
};

} // namespace

[[gnu::visibility("default")]] void load_platform(const simgrid::s4u::Engine&)
{
	ftr_set_unpacker(&cli_unpacker);

	auto* zone = new fabric_zone();	/* SimGrid owns it, and makes the first zone the root */
	auto one = [](double, const simgrid::s4u::Host*, const simgrid::s4u::Host*,
		      const std::vector<simgrid::s4u::Link*>&,
		      const std::unordered_set<simgrid::s4u::NetZone*>&) { return 1.0; };

	zone->fill();
	/* SMPI's factors are those of Gigabit Ethernet */
	zone->get_iface()->get_network_model()->set_lat_factor_cb(one);
	zone->get_iface()->get_network_model()->set_bw_factor_cb(one);
	zone->get_iface()->seal();
}
