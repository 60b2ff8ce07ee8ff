import CounterfoilSQL
import CounterfoilServer
import Foundation

/// The state of the endings journal that the settings name.
enum JournalState {
    /// There is no file; the obstacle is what prevents the server from creating it.
    case missing(obstacle: EndingsOptions.Obstacle?)
    /// This user cannot write the file, or files beside it.
    case unwritable(EndingsOptions.Obstacle)
    case unusable(JournalFailure)
    case compared(JournalComparison)

    init(ofFileAt path: String, of store: some SQLStore) async {
        let obstacle = EndingsOptions.obstacle(to: path)
        guard FileManager.default.fileExists(atPath: path) else {
            self = .missing(obstacle: obstacle)
            return
        }
        do throws(JournalFailure) {
            let comparison = try await EndingsJournal.compare(with: store, at: path)
            self = obstacle.map(JournalState.unwritable) ?? .compared(comparison)
        } catch {
            self = obstacle.flatMap { $0.isOtherKind ? nil : .unwritable($0) } ?? .unusable(error)
        }
    }
}

extension ServerFindings {
    /// The age in seconds of an ending that the server should have written to the journal, as in the alert.
    private static let journalAge: TimeInterval = 900

    /// Judges the endings journal at a path.
    mutating func judgeJournal(_ state: JournalState, at path: String, now: Date) {
        switch state {
        case .missing(let obstacle?):
            fault(
                "endings-journal-missing",
                "the endings journal \(path) is missing, and the server cannot create it (\(obstacle))",
                mend: "mount or create \(obstacle.path) again, give it to the user of the server, and make a backup")
        case .missing(nil):
            fault(
                "endings-journal-missing",
                "the endings journal \(path) is missing; without it, a restore cannot end again what has ended",
                mend: "if the server runs, it creates the file within a minute, with what ended in the last 30 days; "
                    + "keep the former file if it was moved, otherwise make a backup")
        case .unwritable(let obstacle):
            fault(
                "endings-journal-unwritable", "the endings journal \(path) cannot be written (\(obstacle))",
                mend: "give \(obstacle.path) to the user of the server, or run this command as that user")
        case .unusable(.aheadOfStore):
            fault(
                "endings-journal-ahead",
                "the store lacks endings of its journal \(path), so what had ended is valid in it",
                mend: "start the server, which ends it again; if it runs, search its log for \"failed to end again\"")
        case .unusable(let failure):
            fault(
                "endings-journal-unusable", saying: "\(failure)",
                orElse: "name another file with --endings-journal, restart the server, and make a backup")
        case .compared(.lacks(let count, let oldest)) where now.timeIntervalSince(oldest) > Self.journalAge:
            fault(
                "endings-journal-behind",
                "the endings journal \(path) lacks \(count) endings of the store, the oldest since "
                    + Moment.text(oldest),
                mend: "start the server, or search its log for \"failed to write the endings journal\" and correct the "
                    + "cause; after 30 days, the store deletes what the journal lacks")
        case .compared(.lacks):
            sound("endings-journal", "the endings journal \(path) lacks only endings of the last minutes")
        case .compared(.complete):
            sound("endings-journal", "the endings journal \(path) has every ending of the store")
        }
    }
}
