import CounterfoilServer

/// The first page of the administration: what wants attention, what to do next on a new server, and charts.
package struct OverviewPage: ConsolePage, Hashable {
    package static let template = "overview"

    package var console: ConsoleHead
    package var paths: AdministrationPaths
    /// The things that want attention, the most urgent first.
    package var attention: [Attention]
    /// The steps to take next; empty on a server that is in use.
    package var steps: [Step]
    /// The other parts of the administration that the user may open.
    package var cards: [Card]
    /// The charts; nil if the user may not see them.
    package var activity: Activity?

    /// Something that an administrator should look at.
    package struct Attention: Sendable, Hashable {
        /// The finding, its time, and its remedy.
        package let text: String
        /// Whether users notice it already, or soon.
        package let isUrgent: Bool
        /// The page that shows more; nil if there is none.
        package let path: String?
        /// The name of that page; nil if there is none.
        package let pathName: String?
    }

    /// A step from an empty server to one that apps use.
    package struct Step: Sendable, Hashable {
        package let name: String
        package let about: String
        package let isDone: Bool
        /// The page on which it is done; nil if there is none.
        package let path: String?
        /// The name of that page; nil if there is none.
        package let pathName: String?
        /// The command that does it; nil if it is done on a page.
        package let command: String?
    }

    /// A part of the administration, with the number of its records.
    package struct Card: Sendable, Hashable {
        package let name: String
        /// The number of records, in words.
        package let count: String
        package let path: String
    }

    /// The numbers of events over time.
    package struct Activity: Sendable, Hashable {
        /// The ranges that can be chosen.
        package var ranges: [Range]
        /// The value of the parameter `range`.
        package var range: String
        /// The path that the form of the time zone sends a GET request to.
        package var action: String
        /// The field `zone`: the name of a time zone; the script fills in that of the browser.
        package var zone: FormField
        /// Whether the script loads the page again in the time zone of the browser.
        package var asksForZone: Bool
        /// The time zone of all times, in words.
        package var times: String
        package var charts: [Chart]
        /// The same numbers as a table: one row for each period, the latest first.
        package var rows: [Row]
    }

    /// A link to the page with another range.
    package struct Range: Sendable, Hashable {
        package let name: String
        package let url: String
        package let isCurrent: Bool
    }

    /// The chart of one kind of events.
    package struct Chart: Sendable, Hashable {
        /// The kind, from which the identifiers of elements are made.
        package let id: String
        package let name: String
        /// The number of events of all periods, in words.
        package let total: String
        /// The highest number with its period, in words.
        package let about: String
        package let drawing: BarChart
    }

    /// A period with the number of each kind of events.
    package struct Row: Sendable, Hashable {
        package let period: String
        package let cells: [Cell]
    }

    package struct Cell: Sendable, Hashable {
        /// The kind of events.
        package let name: String
        package let count: String
    }
}
