# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Public tools and how to read their figures: one row a tool. Knows no guests."""

import re


def last_row(output):
    """The numbers of perftest's last line of figures."""
    rows = re.findall(r"^\s*(\d+\s+\d+(?:\s+[\d.]+)+)\s*$", output, re.MULTILINE)
    return [float(word) for word in rows[-1].split()] if rows else None


def pingpong_time(output):
    match = re.search(r"iters in [\d.]+ seconds = ([\d.]+) usec/iter", output)
    return float(match[1]) if match else None


def bandwidth(output):
    row = last_row(output)
    return row[3] if row and len(row) >= 4 else None


def latency(output):
    """t_avg of #bytes #iterations t_min t_max t_typical t_avg ..."""
    row = last_row(output)
    return row[5] if row and len(row) >= 6 else None


class Tool:
    def __init__(self, name, command, unit, read):
        self.name, self.command, self.unit, self.read = name, command, unit, read

    def line(self, device, gid, peer=""):
        return self.command.format(device=device, gid=gid) + (f" {peer}" if peer else "")


# ibv_rc_pingpong checks the data (-c); perftest's newer posting interface needs mlx5 on RC.
PERFTEST = "-d {device} -x {gid} -p 18515 -F"
PINGPONG = Tool("ibv_rc_pingpong", "ibv_rc_pingpong -d {device} -g {gid} -p 18515 -s 4096 -n 200 -c",
                "us/iteration", pingpong_time)


def write_bw(size=65536, iterations=1000):
    return Tool("ib_write_bw", f"ib_write_bw {PERFTEST} --use_old_post_send -s {size} -n {iterations}",
                "MiB/s", bandwidth)


def send_lat(size=8, iterations=1000):
    return Tool("ib_send_lat", f"ib_send_lat {PERFTEST} --use_old_post_send -s {size} -n {iterations}",
                "us", latency)
