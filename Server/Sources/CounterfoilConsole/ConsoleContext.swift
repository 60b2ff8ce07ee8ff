import CounterfoilServer

/// The variables of the layout template of the console.
struct ConsoleContext {
    let personName: DisplayName
    let isAdministrator: Bool
    let registersClients: Bool
    let inApplications: Bool
    let inAccount: Bool
    let inAdministration: Bool
    let paths: ConsoleHead.Paths
    let signOutTicket: String
    let confirmation: FormField?

    init(_ head: ConsoleHead) {
        personName = head.personName
        isAdministrator = head.isAdministrator
        registersClients = head.registersClients
        inApplications = head.part == .applications
        inAccount = head.part == .account
        inAdministration = head.part == .administration
        paths = head.paths
        signOutTicket = head.signOutTicket
        confirmation = head.confirmation
    }
}
