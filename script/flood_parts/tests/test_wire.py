from __future__ import annotations

import ipaddress
import unittest

from flood_parts.wire import Place


class PlaceTests(unittest.TestCase):
    def test_a_network_sends_from_many_networks_of_64_bits(self) -> None:
        place = Place("127.0.0.77", "2001:db8:2")
        sources = {ipaddress.ip_network(f"{place.fields()['X-Forwarded-For']}/64", strict=False) for _ in range(100)}
        self.assertGreater(len(sources), 50)
        site = ipaddress.ip_network("2001:db8:2::/48")
        self.assertTrue(all(source.subnet_of(site) for source in sources))

    def test_an_address_names_no_client(self) -> None:
        self.assertEqual(Place("127.0.0.2").fields(), {})
