public import Foundation

/// An event that the servers count by the hour; the raw value is its name in the store.
public enum ActivityKind: String, Sendable, Hashable, CaseIterable {
    /// A user signed in, or an app got an authorization code in an existing session.
    case signIn = "sign-in"
    /// A sign-in was refused.
    case failedSignIn = "failed-sign-in"
    /// A client refreshed its tokens.
    case refresh
    /// A user account was created.
    case newUser = "new-user"
}

/// The numbers of events of one hour or of a longer period; a kind without events is missing.
public typealias ActivityCounts = [ActivityKind: Int]

/// The numbers of events by the hour, for charts, which no one can read from an audit log of any size in time.
///
/// The store itself counts new users, in the commit that adds one. A server counts all other events in its memory, and
/// adds the numbers from time to time. If it ends early, those since the last time are lost.
public protocol ActivityStore: Sendable {
    /// Adds numbers to those of the hours that contain the times, as several servers do.
    func addActivity(_ counts: [Date: ActivityCounts]) async throws(StoreFault)
    /// Reads the numbers of the periods between consecutive times.
    ///
    /// An hour belongs to the period in which it begins. Hours are deleted after ``ActivityHour/retention``.
    ///
    /// - Parameter times: The ends of the periods, earliest first, at most 100.
    /// - Returns: The numbers of each period; one element less than `times`.
    func activity(between times: [Date]) async throws(StoreFault) -> [ActivityCounts]
}

/// The hours by which events are counted: whole hours since 1970, in UTC.
public enum ActivityHour {
    /// The time in seconds for which the numbers of an hour are kept: 400 days, so that a chart can show a year.
    public static let retention: TimeInterval = 400 * 86_400

    /// Returns the beginning of the hour that contains a time.
    public static func beginning(of time: Date) -> Date {
        Date(timeIntervalSince1970: (time.timeIntervalSince1970 / 3600).rounded(.down) * 3600)
    }
}
