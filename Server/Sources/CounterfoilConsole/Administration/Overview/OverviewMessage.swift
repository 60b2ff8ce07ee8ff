import CounterfoilServer
import CounterfoilStore

/// The texts of the first page of the administration.
enum OverviewMessage: String, LocalizationKey {
    case day = "overview.range.day"
    case week = "overview.range.week"
    case month = "overview.range.month"
    case year = "overview.range.year"
    case signIns = "overview.sign-ins"
    case failedSignIns = "overview.failed-sign-ins"
    case refreshes = "overview.refreshes"
    case newUsers = "overview.new-users"
    case highest = "overview.highest"
    case noEvents = "overview.no-events"
    case bar = "overview.bar"
    case noZone = "audit.no-zone"
    case certificateEnds = "overview.certificate-ends"
    case certificateEnded = "overview.certificate-ended"
    case backupNever = "overview.backup-never"
    case backupOld = "overview.backup-old"
    case sealsLate = "overview.seals-late"
    case mailsWait = "overview.mails-wait"
    case certificate = "system.certificate.title"
    case testMail = "mail.try.go"
    case apps = "administration.applications"
    case audit = "administration.audit"
    case appCount = "overview.apps"
}

extension ActivityKind {
    /// The name of the kind above its chart.
    var label: OverviewMessage {
        switch self {
        case .signIn: .signIns
        case .failedSignIn: .failedSignIns
        case .refresh: .refreshes
        case .newUser: .newUsers
        }
    }
}
