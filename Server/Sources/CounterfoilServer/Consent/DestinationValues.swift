/// The variables of a template for the redirect destination; only one is set, and the others are nil or false.
struct DestinationValues {
    var thisComputer: String?
    var thisComputerByName = false
    var development: String?
    var app: String?
    var website: String?
    var waitingDevice: WaitingDevice?

    init(_ destination: RedirectDestination) {
        switch destination {
        case .thisComputer(let host): thisComputer = host
        case .thisComputerByName: thisComputerByName = true
        case .development(let host): development = host
        case .app(let scheme): app = scheme
        case .website(let host): website = host
        case .waitingDevice(let device): waitingDevice = device
        }
    }
}
