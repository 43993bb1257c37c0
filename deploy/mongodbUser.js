/* What MongoDB's image runs once, as root, when its volume is new: the user of our services, who may use their one database and no other. */
const password = require('node:fs').readFileSync('/run/secrets/mongodb_password', 'utf8').trim()
db.getSiblingDB('admin').createUser({
  user: 'flightdeck',
  pwd: password,
  roles: [{ role: 'readWrite', db: 'flightdeck' }],
})
