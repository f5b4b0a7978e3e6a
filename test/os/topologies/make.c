/* Writes the topologies of this folder: cc make.c -lhwloc && ./a.out */
#include <hwloc.h>

static hwloc_topology_t start(const char* synthetic) {
  hwloc_topology_t topology;
  hwloc_topology_init(&topology);
  hwloc_topology_set_synthetic(topology, synthetic);
  hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  hwloc_topology_load(topology);
  return topology;
}

static hwloc_bitmap_t set_of(const char* list) {
  hwloc_bitmap_t set = hwloc_bitmap_alloc();
  hwloc_bitmap_list_sscanf(set, list);
  return set;
}

static void write_to(hwloc_topology_t topology, const char* file) { hwloc_topology_export_xml(topology, file, 0); }

int main(void) {
  /* Two sockets, the second without memory of its own. */
  hwloc_topology_t topology = start("pack:2 [numa] core:2 pu:1");
  hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, 1)->attr->numanode.local_memory = 0;
  write_to(topology, "no_memory.xml");

  /* A control group that allows only the odd cores of one socket. */
  topology = start("core:8 pu:1");
  hwloc_topology_allow(topology, set_of("1,3,5,7"), NULL, HWLOC_ALLOW_FLAG_CUSTOM);
  write_to(topology, "odd_cores.xml");

  /* Two fast cores of two hardware threads, and four slow ones of one: CPUs 5, 7, 9 and 11 do not exist. */
  topology = start("core:6 pu:2");
  hwloc_topology_restrict(topology, set_of("0-4,6,8,10"), 0);
  hwloc_cpukinds_register(topology, set_of("0-3"), 1, 0, NULL, 0);
  hwloc_cpukinds_register(topology, set_of("4,6,8,10"), 0, 0, NULL, 0);
  write_to(topology, "hybrid.xml");
  return 0;
}
