import CounterfoilServer
import CounterfoilStore
import Foundation
import Testing

/// The times that commands and pages accept and print.
struct MomentTests {
    private static let zone = TimeZone(secondsFromGMT: 3600)

    @Test(arguments: [
        ("2027-01-31", "2027-01-31T00:00:00Z"), ("2027-01-31T03:12", "2027-01-31T02:12:00Z"),
        ("2027-01-31 03:12", "2027-01-31T02:12:00Z"), ("2027-01-31T03:12:05", "2027-01-31T02:12:05Z"),
        ("2027-01-31T03:12Z", "2027-01-31T03:12:00Z"), ("2027-01-31T03:12:05Z", "2027-01-31T03:12:05Z"),
        ("2027-01-31T03:12+05:30", "2027-01-30T21:42:00Z"), ("2027-01-31T03:12:05-03:00", "2027-01-31T06:12:05Z"),
        ("2027-01-31T03:12+0100", "2027-01-31T02:12:00Z"), ("2027-01-31T03:12-0330", "2027-01-31T06:42:00Z"),
    ])
    func `a day begins in UTC, and a time is in its time zone or in the local one`(text: String, utc: String) throws {
        let zone = try #require(Self.zone)
        let time = try #require(Moment.parse(text, in: zone))
        #expect(Moment.text(time) == utc)
    }

    @Test(arguments: [
        "", "tomorrow", "2027-02-30", "2027-01-31T", "2027-01-31T3:12", "2027-01-31T24:00", "2027-01-31T03:60",
        "2027-01-31T03:12:61", "2027-01-31T03", "2027-01-31T03:12X", "2027-01-31T03:12+1", "2027-01-31T03:12+01000",
        "2027-01-31T03:12+2400", "2027-01-31T+03:12",
        "2027-01-31T03:12:00:00", "2027-01-31x03:12", "31.01.2027",
    ])
    func `any other text is no time`(text: String) { #expect(Moment.parse(text, in: .gmt) == nil) }

    @Test(arguments: [
        (0, "2027-01-31T03:12:00+00:00"), (19_800, "2027-01-31T08:42:00+05:30"), (-12_600, "2027-01-30T23:42:00-03:30"),
    ])
    func `a time is printed with the offset of its time zone`(offset: Int, text: String) throws {
        let time = try #require(Moment.parse("2027-01-31T03:12Z"))
        #expect(Moment.text(time, in: try #require(TimeZone(secondsFromGMT: offset))) == text)
    }

    @Test func `a time zone with daylight saving time applies that of the day`() throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        for (text, utc) in [("2027-01-31T03:12", "2027-01-31T02:12:00Z"), ("2027-07-31T03:12", "2027-07-31T01:12:00Z")]
        {
            let time = try #require(Moment.parse(text, in: zone))
            #expect(Moment.text(time) == utc)
            #expect(Moment.text(time, in: zone).hasPrefix(text))
        }
    }

    @Test func `a time that occurs twice is the first moment, or the last one for the end of a period`() throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        for (text, first, last) in [
            ("2027-10-31T02:30", "2027-10-31T00:30:00Z", "2027-10-31T01:30:00Z"),
            ("2027-10-31T01:59", "2027-10-30T23:59:00Z", "2027-10-30T23:59:00Z"),
            ("2027-10-31T03:00", "2027-10-31T02:00:00Z", "2027-10-31T02:00:00Z"),
            ("2027-10-31", "2027-10-31T00:00:00Z", "2027-10-31T00:00:00Z"),
        ] {
            #expect(Moment.parse(text, in: zone).map { Moment.text($0) } == first)
            #expect(Moment.parse(text, in: zone, .last).map { Moment.text($0) } == last)
        }
    }

    @Test func `a local time that daylight saving time leaves out is no time`() throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        #expect(Moment.parse("2027-03-28T02:00", in: zone) == nil)
        #expect(Moment.parse("2027-03-28T02:59:59", in: zone, .last) == nil)
        #expect(Moment.parse("2027-03-28T01:59", in: zone).map { Moment.text($0) } == "2027-03-28T00:59:00Z")
        #expect(Moment.parse("2027-03-28T03:00", in: zone).map { Moment.text($0) } == "2027-03-28T01:00:00Z")
    }

    @Test func `a period is described in UTC, and in a time zone with another offset`() throws {
        let day = try #require(Moment.parse("2027-01-31"))
        let zone = try #require(Self.zone)
        let local = "since 2027-01-31T00:00:00Z (2027-01-31T01:00:00+01:00)"
        #expect(Moment.period(since: day, before: nil, in: zone) == local)
        #expect(
            Moment.period(since: day, before: day + 60, in: .gmt)
                == "since 2027-01-31T00:00:00Z and before 2027-01-31T00:01:00Z")
        #expect(Moment.period(since: nil, before: nil, in: zone) == nil)
    }

    @Test(arguments: [
        ("today", "2027-03-27T23:00:00Z"), ("yesterday", "2027-03-26T23:00:00Z"),
        ("2027-03-28", "2027-03-27T23:00:00Z"),
        ("2027-03-29", "2027-03-28T22:00:00Z"), ("90m", "2027-03-28T08:30:00Z"), ("2h", "2027-03-28T08:00:00Z"),
        ("7d", "2027-03-21T10:00:00Z"), ("2027-03-28T03:00", "2027-03-28T01:00:00Z"),
        ("2027-03-28T03:00Z", "2027-03-28T03:00:00Z"),
    ])
    func `a time of a search is a local day, a time ago, or a time`(text: String, utc: String) throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let now = try #require(Moment.parse("2027-03-28T10:00Z"))
        #expect(Moment.parse(text, at: now, in: zone).map { Moment.text($0) } == utc)
    }

    // The day after a day of 25 hours, and a day that begins at 01:00.
    @Test func `a day begins with its first moment in its time zone`() throws {
        let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
        let after = try #require(Moment.parse("2027-11-01T10:00Z"))
        #expect(Moment.parse("yesterday", at: after, in: berlin).map { Moment.text($0) } == "2027-10-30T22:00:00Z")
        let asuncion = try #require(TimeZone(identifier: "America/Asuncion"))
        let now = try #require(Moment.parse("2023-10-01T15:00Z"))
        #expect(Moment.parse("2023-10-01", at: now, in: asuncion).map { Moment.text($0) } == "2023-10-01T04:00:00Z")
    }

    @Test(arguments: ["", "tomorrow", "Today", "h", "2w", "2 h", "-2h", "+2h", "1234567h", "2.5h", "٢h", "2027-02-30"])
    func `any other text is no time of a search`(text: String) {
        #expect(Moment.parse(text, at: Date(timeIntervalSince1970: 0), in: .gmt) == nil)
    }
}
