import CounterfoilServer
import CounterfoilStore
import Foundation
import Testing

@testable import CounterfoilConsole

/// The drawing of a chart, and the periods of which it has the numbers.
struct BarChartTests {
    private static func chart(_ counts: [Int], _ words: Localizer = .english) -> BarChart {
        BarChart(
            counts.map { BarChart.Period(count: $0, shortName: "p", says: "p: \($0)") }, words)
    }

    @Test(arguments: [
        (0, [0, 1]), (1, [0, 1]), (2, [0, 1, 2]), (4, [0, 1, 2, 3, 4]), (5, [0, 2, 4, 6]), (9, [0, 5, 10]),
        (17, [0, 5, 10, 15, 20]), (1200, [0, 500, 1000, 1500]),
        (3_999_999, [0, 1_000_000, 2_000_000, 3_000_000, 4_000_000]),
        (Int.max, [0, 500_000_000_000_000, 1_000_000_000_000_000]), (-3, [0, 1]),
    ])
    func `an axis has few round numbers and reaches the highest one`(highest: Int, values: [Int]) {
        #expect(BarChart.values(upTo: highest) == values)
    }

    @Test func `periods without events have no bar, and keep their place`() throws {
        let chart = Self.chart([0, 4, 0, 2])
        #expect(chart.bars.map(\.says) == ["p: 4", "p: 2"])
        #expect(chart.bars.map(\.height) == ["120.0", "60.0"] && chart.bars.map(\.top) == ["8.0", "68.0"])
        #expect(chart.bars.map(\.left) == ["38.38%", "80.88%"] && chart.bars.allSatisfy { $0.width == "17.0%" })
        #expect(chart.labels.map(\.middle) == ["25.63%", "46.88%", "68.13%", "89.38%"])
        #expect(chart.ticks.map(\.label) == ["0", "1", "2", "3", "4"])
    }

    @Test func `a chart of nothing has an axis and no bar`() {
        #expect(Self.chart([]).bars.isEmpty && Self.chart([]).labels.isEmpty)
        #expect(Self.chart([0, 0]).bars.isEmpty && Self.chart([0, 0]).ticks.map(\.label) == ["0", "1"])
    }

    @Test func `one event among millions is seen, and a number that cannot be is drawn at the top`() {
        let chart = Self.chart([1, 3_000_000])
        #expect(chart.bars.map(\.height) == ["2.0", "120.0"])
        #expect(chart.ticks.map(\.label) == ["0", "1M", "2M", "3M"])
        #expect(Self.chart([.max, 1]).bars.first?.height == "120.0")
    }

    @Test func `the numbers of an axis are short, with the separator of the language`() {
        #expect(Self.chart([1400]).ticks.map(\.label) == ["0", "500", "1k", "1.5k"])
        #expect(Self.chart([1400], Localizer(.german)).ticks.map(\.label) == ["0", "500", "1k", "1,5k"])
    }

    @Test func `a chart of many periods names a few`() {
        #expect(Self.chart(Array(repeating: 1, count: 30)).labels.count == 4)
        #expect(Self.chart(Array(repeating: 1, count: 24)).labels.count == 4)
    }

    @Test(arguments: 25...28)
    func `a chart of a week names every second day, whatever the time of day`(count: Int) {
        let quarters = (0..<count).map { BarChart.Period(count: 1, shortName: "\($0)", says: "") }
        let chart = BarChart(quarters, named: ActivityRange.week.periodsOfName, .english)
        #expect(chart.labels.map(\.text) == ["0", "8", "16", "24"])
    }

    // In Oslo, daylight saving time began on 28 March 2027 at 02:00.
    @Test(arguments: [
        (ActivityRange.day, 25, "2027-03-27T13:00:00Z", "2027-03-28T13:00:00Z"),
        (.week, 28, "2027-03-21T23:00:00Z", "2027-03-28T16:00:00Z"),
        (.month, 31, "2027-02-26T23:00:00Z", "2027-03-28T22:00:00Z"),
        (.year, 13, "2026-03-31T22:00:00Z", "2027-03-31T22:00:00Z"),
    ])
    func `the periods of a range are those of the time zone`(
        range: ActivityRange, count: Int, first: String, last: String
    ) throws {
        let now = try Date("2027-03-28T12:34:56Z", strategy: .iso8601)
        let times = range.times(until: now, in: try #require(TimeZone(identifier: "Europe/Oslo")))
        #expect(times.count == count)
        #expect(times.first?.formatted(.iso8601) == first && times.last?.formatted(.iso8601) == last)
        #expect(times == times.sorted() && Set(times).count == count)
        #expect(zip(times, times.dropFirst()).contains { $0 <= now && now < $1 })
    }
}
