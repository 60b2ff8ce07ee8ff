import CounterfoilServer

/// The variables of the layout template of the console.
struct ConsoleContext {
    let userDisplayName: DisplayName
    let mayChange: Bool
    let registersClients: Bool
    let isInClients: Bool
    let inAccount: Bool
    let inAdministration: Bool
    let paths: ConsoleHead.Paths
    let signOutTicket: String
    let confirmation: FormField?

    init(_ head: ConsoleHead) {
        userDisplayName = head.userDisplayName
        mayChange = head.mayChange
        registersClients = head.registersClients
        isInClients = head.part == .clients
        inAccount = head.part == .account
        inAdministration = head.part == .administration
        paths = head.paths
        signOutTicket = head.signOutTicket
        confirmation = head.confirmation
    }
}
